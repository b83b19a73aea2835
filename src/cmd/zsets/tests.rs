use crate::cmd::testing::Space;
