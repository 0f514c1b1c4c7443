import CommandSettings

/// A program with a few options of each kind.
let program: CommandSettings.Program = {
  let server = OptionDescription(.option, "server", valueName: "url")
  let config = OptionDescription(.option, "config", valueName: "file")
  let quiet = OptionDescription(.flag, "quiet")
  let help = OptionDescription(.flag, "help", short: ["h"])
  let call = CommandDescription(
    name: "call",
    options: [
      server, OptionDescription(.option, "room", valueName: "name"),
      OptionDescription(.option, "record", valueName: "folder"),
      OptionDescription(.option, "receive-files", valueName: "folder"),
      OptionDescription(.option, "duration", valueName: "time", takesAnyWord: true),
      OptionDescription(.option, "say", valueName: "text", isRepeating: true), OptionDescription(.flag, "loopback"),
      OptionDescription(.flag, "loop"), OptionDescription(.flag, "once"), OptionDescription(.flag, "mdns"),
      OptionDescription(.flag, "no-mdns"), OptionDescription(.option, "udp-port", defaultValue: "0"),
      OptionDescription(.option, "play", valueName: "file"), OptionDescription(.option, "token-file"),
      OptionDescription(.option, "on-finish", valueName: "command"),
      OptionDescription(.option, "on-segment", valueName: "command"), OptionDescription(.option, "log-level"), quiet,
      config, help,
    ])
  let load = CommandDescription(
    name: "load",
    options: [server, OptionDescription(.option, "publishers"), OptionDescription(.flag, "json"), config, help])
  let inspect = CommandDescription(
    name: "inspect",
    options: [
      OptionDescription(.positional, isRepeating: true), OptionDescription(.option, "json", valueName: "file|-"),
      config, help,
    ])
  let show = CommandDescription(name: "show", options: [OptionDescription(.positional, takesTheRest: true), help])
  let root = CommandDescription(
    name: "chatbot", options: [OptionDescription(.flag, "version"), help],
    subcommands: [
      call, load, inspect, CommandDescription(name: "config", options: [help], subcommands: [show]),
      CommandDescription(name: "help"),
    ], defaultSubcommand: "call")
  return CommandSettings.Program(
    root: root, reserved: ["CHATBOT_TOKEN", "CHATBOT_JOURNAL"], exclusive: [["loop", "once"]])
}()
