//! Arguments of `serve`.

use clap::Args;
use tiphys_web::LoopbackAddress;

use super::shared;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tiphys serve
  tiphys serve --listen 9000 --store apps
  tiphys serve --read-only

The address that is printed has a token that admits one browser; a cookie keeps it. Other machines reach the page through an SSH tunnel.
Files are changed when a reviewed change is saved, and at no other time.")]
pub(crate) struct ServeArgs {
    /// Loopback address of the page: a port, `127.0.0.1:8080` or `[::1]:8080`; port 0 is any free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub(crate) listen: LoopbackAddress,
    /// Open the page in the browser of the desktop
    #[arg(long)]
    pub(crate) open: bool,
    /// Save nothing
    #[arg(long)]
    pub(crate) read_only: bool,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}
