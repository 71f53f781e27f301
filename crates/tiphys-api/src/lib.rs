//! The Argo CD resources that tiphys reads: Application, AppProject.
