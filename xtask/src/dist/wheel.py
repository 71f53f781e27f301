"""Packs the files below a directory into a zip file, in the order of their names and without their times: wheel.py FILE DIRECTORY."""

import os
import sys
import zipfile

wheel, directory = sys.argv[1:]
paths = sorted(os.path.join(folder, name) for folder, _, names in os.walk(directory) for name in names)
with zipfile.ZipFile(wheel, "w") as packed:
    for path in paths:
        entry = zipfile.ZipInfo(os.path.relpath(path, directory))  # of 1980-01-01
        entry.create_system = 3  # Unix, for the permissions
        entry.external_attr = os.stat(path).st_mode << 16
        with open(path, "rb") as file:
            packed.writestr(entry, file.read(), zipfile.ZIP_DEFLATED, 9)
