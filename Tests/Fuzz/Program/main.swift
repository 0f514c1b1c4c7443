import Glibc

/// Runs libFuzzer on the target that the environment variable `CHATBOT_FUZZ_TARGET` names. All arguments are libFuzzer's.
/// Without the variable, it lists all targets, each with the size of its largest input.
guard Driver.target != nil else {
  Driver.list()
  exit(getenv("CHATBOT_FUZZ_TARGET") == nil ? 0 : 2)
}
exit(Driver.run())
