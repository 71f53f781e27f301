def empty: {}[] as $x | .;
def error: error_empty as $x | .;
def error(msgs): (msgs | error_empty) as $x | .;

def true: 0 == 0;
def false: 0 != 0;
def null: [][0];
def not: if . then false else true end;
def select(f): if f then . else empty end;

def isboolean: . == true or . == false;
def isnumber: . > true and . < "";
def isstring: . >= "" and . < [];
def isarray: . >= [] and . < {};
def isobject: . >= {};
def type:
    if . == null then "null"
  elif isboolean then "boolean"
  elif isnumber then "number"
  elif isstring then "string"
  elif isarray then "array"
  else "object" end;
def values: select(. != null);
def nulls: select(. == null);
def booleans: select(isboolean);
def numbers: select(isnumber);
def strings: select(isstring);
def arrays: select(isarray);
def objects: select(isobject);
def iterables: select(. >= []);
def scalars: select(. < []);

def tostring: "\(.)";
def @text: tostring;
def @json: tojson;
def tonumber: if isnumber then . else fromjson | if isnumber then . else error("not a number") end end;
def toarray: if isarray then . else [.] end;
def abs: if . < 0 then - . end;

def recurse: ..;
def map(f): [.[] | f];
def map_values(f): .[] |= f;
def first: .[0];
def last: .[-1];
def last(g): reduce g as $x (null; $x);
def nth(n): .[n];
def nth(n; g): first(skip(n; g));
def isempty(g): first((g | false), true);
def all(g; cond): isempty(g | cond and empty);
def any(g; cond): isempty(g | cond or empty) | not;
def all(cond): all(.[]; cond);
def any(cond): any(.[]; cond);
def all: all(.[]; .);
def any: any(.[]; .);
def IN(g): any(g == .; .);
def IN(f; g): any(f == g; .);
def add(f): reduce f as $x (null; . + $x);
def add: add(.[]);

def paths: skip(1; path(..));
def paths(p): skip(1; path_value(..)) | if .[1] | p then .[0] else empty end;
def leaf_paths: paths(. < []);
def getpath($path): reduce $path[] as $p (.; .[$p]);

def keys: keys_unsorted | sort;
def in(xs): . as $x | xs | has($x);
def contains($x):
    if . == $x then true
  elif isstring and ($x | isstring) then contains_same_type($x)
  elif . > true and type == ($x | type) then charge_product($x) | contains_same_type($x)
  else error("cannot be applied") end;
def inside(xs): . as $x | xs | contains($x);
def to_entries: [key_values[] as [$key, $value] | {$key, $value}];
def from_entries: reduce (.[] | {(.key): .value}) as $x ({}; . + $x);
def with_entries(f): to_entries | map(f) | from_entries;

def flatten: def items: if isarray then .[] | items else . end; [items];
def min_by(f): reduce min_by_or_empty(f) as $x (null; $x);
def max_by(f): reduce max_by_or_empty(f) as $x (null; $x);
def min: min_by(.);
def max: max_by(.);
def unique_by(f): [group_by(f)[] | .[0]];
def unique: unique_by(.);
def indices($i): charge_product($i) | indices_of($i);
def index($i): indices($i)[0];
def rindex($i): indices($i)[-1];

def join($s): [.[] | if . == null then "" else tostring end | ., $s] | .[:-1] | add + "";
def split($s): . / $s;
def test(re): test(re; null);
