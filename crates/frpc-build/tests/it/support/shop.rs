//! A schema and its lock, to be changed by tests.

use std::fs;
use std::path::PathBuf;

use frpc_build::{Builder, Layout, LockUpdate};

use super::Build;

/// Two services with all that can be recorded; `Item` is never inside of another message, `Part` is.
const SHOP: &str = r#"syntax = "proto3";
package shop;

service Orders {
  rpc Get(GetRequest) returns (Item);
  rpc Put(Item) returns (GetRequest);
}

service Stock {
  rpc Watch(Filter) returns (stream Item);
}

message GetRequest {
  string id = 1;
  int32 limit = 2;
}

message Item {
  string name = 1;
  Color color = 2;
  repeated string tags = 3;
  Part part = 4;
}

message Part {
  int64 weight = 1;
  double size = 2;
}

message Filter {
  oneof by {
    string name = 1;
    Color color = 2;
  }
  optional int32 least = 3;
}

enum Color {
  RED = 0;
  GREEN = 5;
  BLUE = 2;
}
"#;

/// A folder with `shop.proto` and perhaps its lock.
pub(crate) struct Shop(pub(crate) Build);

impl Shop {
    pub(crate) fn unlocked() -> Self {
        Self(Build::of_files(&[("shop.proto", SHOP)]))
    }

    /// With a lock of [`SHOP`].
    pub(crate) fn locked() -> Self {
        let shop = Self::unlocked();
        shop.build(|builder| builder.lock_update(LockUpdate::Safe)).unwrap();
        shop
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.protos.path().join("shop.frpc.lock")
    }

    pub(crate) fn lock(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    /// Changes `shop.proto`: each pair is a part of it and what to put there.
    #[track_caller]
    pub(crate) fn edit(&self, edits: &[(&str, &str)]) {
        let path = self.0.protos.path().join("shop.proto");
        let mut source = fs::read_to_string(&path).unwrap();
        for (part, instead) in edits {
            assert!(source.contains(part), "{part:?} is not in the schema");
            source = source.replacen(part, instead, 1);
        }
        fs::write(path, source).unwrap();
    }

    pub(crate) fn build(&self, configure: impl FnOnce(Builder) -> Builder) -> Result<(), String> {
        let result = self.0.run(configure, &["shop.proto"]);
        result.map_err(|error| {
            let folder = format!("{}/", self.0.protos.path().display());
            error.to_string().replace(&folder, "")
        })
    }

    pub(crate) fn layouts(&self) -> Vec<Layout> {
        let folder = self.0.protos.path();
        frpc_build::configure().load_protos(&[folder.join("shop.proto")], &[folder]).unwrap().layouts
    }
}
