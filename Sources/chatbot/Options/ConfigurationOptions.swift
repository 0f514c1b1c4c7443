import ArgumentParser

/// The option that names a file of options. It is read before the arguments are parsed, see ``CommandLineSettings``.
struct ConfigurationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A YAML file with options: “record: out/”; the command line and the variables CHATBOT_RECORD and so on are preferred. "
        + "(default: the variable CHATBOT_CONFIG)",
      valueName: "file"),
    completion: .file())
  var config: String?
}
