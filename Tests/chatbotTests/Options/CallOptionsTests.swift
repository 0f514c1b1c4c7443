import ArgumentParser
import BotPeer
import Call
import CommandSettings
import LiveSource
import Media
import OptionValues
import Recorder
import RoomMessages
import SignallingAdapters
import Testing

@testable import chatbot

/// Returns the message for a rejected command line, or nil if it is accepted.
func rejection<Options: ParsableArguments>(of type: Options.Type, _ arguments: String...) -> String? {
  do {
    _ = try type.parse(arguments)
    return nil
  } catch {
    #expect(type.exitCode(for: error).rawValue == ExitStatus.usage.rawValue)
    return type.message(for: error)
  }
}

@Suite("the options of a call")
struct CallOptionsTests {
  @Test("a TCP port needs --tcp, is not that of the Discard protocol, and TCP is no relay")
  func tcpPorts() {
    let record = ["--record", "out/"]
    for arguments in [
      ["--tcp-port", "443"], ["--tcp", "--tcp-port", "9"], ["--tcp", "--tcp-port", "8", "--media-threads", "2"],
      ["--tcp", "--tcp-port", "65535", "--media-threads", "2"], ["--tcp", "--tcp-port", "3000"],
      ["--tcp", "--tcp-port", "8443", "--server", "wss://localhost:8443"],
      ["--tcp", "--ice-server", "turn:a:b@example.org", "--ice-transport-policy", "relay"],
    ] {
      #expect(throws: (any Error).self, "\(arguments)") { try CallOptions.parse(record + arguments) }
    }
    for arguments in [
      ["--tcp"], ["--tcp", "--tcp-port", "8"], ["--tcp", "--tcp-port", "3000", "--server", "ws://rooms.example:3000"],
      ["--tcp", "--tcp-port", "443"],
    ] {
      #expect(throws: Never.self, "\(arguments)") { try CallOptions.parse(record + arguments) }
    }
  }

  @Test("others are told of a recording, whose files have the names of a template")
  func fileNames() throws {
    let settings = try CallOptions.parse(["--record", "out", "--file-name", "{date}-{room}-{name}"]).settings()
    #expect(settings.call.recording?.fileName == (try FileNameTemplate("{date}-{room}-{name}")))
    #expect(settings.server.signalling.records)
    let playing = try CallOptions.parse(["--play", "pattern"]).settings()
    #expect(!playing.server.signalling.records && playing.call.recording == nil)
    #expect(
      rejection(of: CallOptions.self, "--play", "pattern", "--file-name", "{name}") == "--file-name needs --record.")
    #expect(
      rejection(of: CallOptions.self, "--record", "out", "--file-name", "{nam}")?.contains(
        "There is no field “{nam}” for names of files; there are {date}, {time}, {room}, {name}, {id}, {stream}, {session}."
      )
        == true)
  }

  @Test("a call takes one time and one size")
  func both() throws {
    let options = try CallOptions.parse(["--record", "o", "--segment", "10m", "--segment", "500MB"])
    #expect(options.segmentTime == TimeSpan(milliseconds: 600_000))
    #expect(options.segmentSize == 500_000_000)
    #expect(try CallOptions.parse(["--record", "o"]).segment.isEmpty)
    let twice = "--segment takes one time and one size, like --segment 10m --segment 500MB."
    #expect(rejection(of: CallOptions.self, "--record", "o", "--segment", "10m", "--segment", "5m") == twice)
    #expect(rejection(of: CallOptions.self, "--play", "f", "--segment", "10m") == "--segment needs --record.")
    #expect(
      rejection(of: CallOptions.self, "--record", "o", "--segment", "huge")?.contains("like 90s, 10m or 1h") == true)
  }

  @Test("all options have their documented defaults")
  func defaults() throws {
    let options = try CallOptions.parse(["--record", "out/"])
    #expect(options.connection.room == nil)
    #expect(try options.settings().server.address == "ws://localhost:3000")
    #expect(options.mayStartServer)
    #expect(options.playing.play == nil)
    #expect(options.record == "out/")
    #expect(options.playing.loops)
    #expect(options.duration == nil)
    #expect(options.connection.ice.iceServer.isEmpty)
    #expect(options.connection.udpPort == 0)
    #expect(options.connection.bindAddress == nil)
    #expect(options.verifies)
    #expect("\(options.log.level)" == "info")
    #expect(!options.log.quiet)
  }

  @Test("each option is parsed")
  func everything() throws {
    let options = try CallOptions.parse([
      "--room", "100", "--play", "a.webm", "--record", "out/", "--loop", "--duration", "60", "--server",
      "wss://calls.example:8443", "--ice-server", "stun:one.example", "--ice-server", "stun:[2001:db8::1]:3479",
      "--udp-port", "40000", "--bind-address", "2001:db8::1", "--log-level", "debug", "--quiet", "--verify", "off",
    ])
    #expect(options.connection.room == "100")
    #expect(options.playing.play == "a.webm")
    #expect(options.playing.loops)
    #expect(options.duration == TimeSpan(milliseconds: 60_000))
    #expect(options.connection.server == "wss://calls.example:8443")
    #expect(!options.mayStartServer)
    #expect(options.connection.ice.iceServer == ["stun:one.example", "stun:[2001:db8::1]:3479"])
    #expect(options.connection.udpPort == 40_000)
    #expect(options.connection.bindAddress == "2001:db8::1")
    #expect("\(options.log.level)" == "debug")
    #expect(options.log.quiet)
    #expect(!options.verifies)
  }

  @Test("a file is played once with --once, which excludes --loop")
  func once() throws {
    #expect(try !CallOptions.parse(["--play", "a.webm", "--once"]).playing.loops)
    #expect(rejection(of: CallOptions.self, "--play", "a.webm", "--once", "--loop") != nil)
  }

  @Test("--quiet means warnings and errors, unless a level is given")
  func quiet() throws {
    #expect(try "\(LogOptions.parse(["--quiet"]).level)" == "warning")
    #expect(try "\(LogOptions.parse(["--quiet", "--log-level", "trace"]).level)" == "trace")
    #expect(rejection(of: LogOptions.self, "--log-level", "loud")?.contains("--log-level") == true)
  }

  @Test(
    "invalid combinations are rejected with a sentence",
    arguments: [
      ([], nothing), (["--room", "100"], nothing),
      (
        ["--loopback", "--say", "a"],
        "--loopback sends messages back, so it cannot be combined with --say or files."
      ),
      (["--receive-files", ""], "--receive-files needs the name of a folder."),
      (
        ["--receive-files", "in", "--max-file-size", "much"],
        "The value 'much' is invalid for '--max-file-size <size>': A size is a number with a unit, such as 500kB, 100MB "
          + "or 2GB, not much."
      ),
      (["--record", "o", "--room", ""], "A room's name has 1 to 128 characters, but this one has 0."),
      (
        ["--record", "o", "--room", String(repeating: "x", count: 129)],
        "A room's name has 1 to 128 characters, but this one has 129."
      ),
      (["--record", ""], "--record needs the name of a folder."), (["--play", ""], "--play needs the name of a file."),
      (["--record", "o", "--once"], "--once needs --play."),
      (["--play", "a", "--verify", "off"], "--verify needs --record."),
      (["--play", "a", "--loopback"], "--loopback sends users' own media back, so it cannot be combined with --play."),
      (["--record", "o", "--delay", "1s"], "--delay needs --loopback."),
      (["--loopback", "--delay", "11s"], "--delay is 10s at most."),
      (["--record", "o", "--duration", "0"], "--duration 0 would leave before joining."),
      (
        ["--record", "o", "--server", "ftp://a"],
        "The URL of a server must start with ws://, wss://, socketio+http://, socketio+https://, firestore://, "
          + "whip+http://, whip+https://, whep+http://, whep+https://, janus+ws://, janus+wss:// or exec:, "
          + "not ftp://."
      ),
      (
        ["--record", "o", "--server", "nowhere"],
        "\"nowhere\" is not a server address; one looks like ws://localhost:3000."
      ),
      (["--record", "o", "--server", "ws://"], "\"ws://\" names no host; an address looks like ws://localhost:3000."),
      (["--record", "o", "--server", "ws://a:99999"], "A port is 1 to 65535, not 99999."),
      (
        ["--record", "o", "--ice-server", "stuns:a"],
        "The ICE server 'stuns:a' cannot be used: Only stun:, turn: and turns: servers are supported, but this one is stuns:."
      ),
      (
        ["--record", "o", "--ice-server", "a.example"],
        "The ICE server 'a.example' cannot be used: An ICE server URL has the form stun:host or stun:host:port, but "
          + "\"a.example\" has no scheme."
      ),
      (
        ["--record", "o", "--ice-server", "stun:"],
        "The ICE server 'stun:' cannot be used: \"\" is neither a host name nor an IP address (an IPv6 address needs "
          + "brackets)."
      ),
      (
        ["--record", "o", "--ice-server", "stun:a:0"],
        "The ICE server 'stun:a:0' cannot be used: A port is a number from 1 to 65535, but this one is \"0\"."
      ),
      (
        ["--server", "janus+ws://a", "--record", "o", "--ice-server", "stun:a", "--ice-transport-policy", "relay"],
        "--ice-transport-policy relay needs a TURN server: --ice-server turn:host. Janus VideoRoom names none."
      ),
      (
        ["--record", "o", "--bind-address", "localhost"],
        "--bind-address needs a numeric IP address, like 192.0.2.1 or 2001:db8::1, not \"localhost\"."
      ),
      (
        ["--record", "o", "--bind-address", "127.0.0.1", "--bind-interface", "lo"],
        "--bind-interface cannot be used together with --bind-address."
      ),
      (
        ["--record", "o", "--bind-interface", "lo", "--bind-interface", "a-name-of-20-bytes.."],
        "--bind-interface needs the name of an interface, like eth0, not \"a-name-of-20-bytes..\"."
      ),
    ] as [([String], String)])
  func refused(_ arguments: [String], _ sentence: String) {
    do {
      _ = try CallOptions.parse(arguments)
      Issue.record("\(arguments) was accepted")
    } catch {
      #expect(CallOptions.message(for: error) == sentence)
      #expect(CallOptions.exitCode(for: error).rawValue == ExitStatus.usage.rawValue)
    }
  }

  @Test(
    "words and options that a command does not have are answered with what was probably meant",
    arguments: [
      ("record out/", "There is no command “record”; did you mean --record out/?"),
      ("play x.webm", "There is no command “play”; did you mean --play x.webm?"),
      ("--json", "chatbot call has no option --json; check, diagnose, inspect and load have it."),
      ("--recrod out/", "There is no option --recrod; did you mean --record?"),
      ("--play pattern --impair loss=2%", "chatbot call has no option --impair; check has it."),
      ("--flavour 5", "There is no option --flavour; chatbot help call lists the options."),
      ("100", "There is no command “100”; did you mean --room 100?"),
      ("chek", "There is no command “chek”; did you mean check?"),
      ("inspct", "There is no command “inspct”; did you mean inspect?"),
      ("Load", "There is no command “Load”; did you mean load?"),
      ("serv", "There is no command “serv”; did you mean serve?"),
      (
        "out",
        "There is no command “out”; there are call, check, compose, config, diagnose, inspect, job, load, remux, repair, serve and signallings."
      ),
      ("check -v", "There is no option -v; --video-codecs and --version begin with that letter."),
    ])
  func usage(line: String, sentence: String) throws {
    let arguments = line.split(separator: " ").map(String.init)
    let program = try described.get()
    #expect(UsageAdvice(arguments, of: program.root).sentence == sentence)
    let settings = try CommandSettings(arguments, of: program, environment: [:]) { _ in "" }
    let error = try #require(#expect(throws: (any Error).self) { try Chatbot.parseAsRoot(arguments) })
    let text = UsageErrors.text(error, settings: settings, arguments: arguments, of: program.root)
    #expect(text?.hasPrefix("Error: \(sentence)\nUsage: chatbot ") == true)
  }

  @Test("an error of a value from a file says where it comes from")
  func origin() throws {
    let program = try described.get()
    let settings = try CommandSettings(["--config", "c.yaml"], of: program, environment: [:]) { _ in
      "record: out\nduration: soon"
    }
    let error = try #require(#expect(throws: (any Error).self) { try Chatbot.parseAsRoot(settings.arguments) })
    let text = UsageErrors.text(error, settings: settings, arguments: ["--config", "c.yaml"], of: program.root)
    #expect(text?.contains("\n  --duration is from c.yaml, line 2.\nUsage:") == true)
  }

  @Test("each command with options reads its section of a file")
  func sections() throws {
    let program = try described.get()
    for command in program.root.configurableCommands {
      #expect(command.option(named: "config") != nil, "\(command.name)")
    }
    let settings = try CommandSettings(
      ["repair", "out", "--config", "c.yaml"], of: program, environment: [:]
    ) { _ in "repair:\n  quiet: true" }
    let repair = try #require(try Chatbot.parseAsRoot(settings.arguments) as? RepairCommand)
    #expect(repair.quiet && repair.files == ["out"])
  }

  @Test("each option can be in a file, and the help of the program has all options of a call in at most 100 lines")
  func descriptions() throws {
    let root = try described.get().root
    #expect(
      root.configurableCommands.map(\.name) == [
        "call", "check", "compose", "diagnose", "inspect", "load", "remux", "repair", "serve",
      ])
    let help = Chatbot.helpMessage(columns: 80)
    #expect(help.split(separator: "\n", omittingEmptySubsequences: false).count <= 100)
    let call = try #require(root.subcommands.first { $0.name == "call" })
    for option in call.configurableOptions where !option.isHidden && !option.key.hasPrefix("no-") {
      #expect(help.contains("--\(option.key)") || help.contains("--[no-]\(option.key)"), "\(option.key)")
    }
  }

  @Test("an invalid duration is rejected with a sentence about it")
  func wrongDuration() {
    let sentence = rejection(of: CallOptions.self, "--record", "o", "--duration", "5x")
    #expect(
      sentence?.contains("\"x\" is not a unit of time; use h, m or min, s or ms, like 10m or 250ms.") == true)
  }

  @Test("wrong ports, switches and unknown options are refused")
  func wrongValues() {
    for arguments in [["--udp-port", "70000"], ["--udp-port", "-1"], ["--verify", "maybe"], ["--nonsense"]] {
      #expect(throws: (any Error).self) { try CallOptions.parse(["--record", "o"] + arguments) }
    }
  }

  @Test("the memory for queued frames is a size with a unit, between 1 MiB and 64 GiB, and needs a recording")
  func queueMemory() throws {
    #expect(try CallOptions.parse(["--record", "o"]).settings().call.recording?.memoryLimit == nil)
    func limit(_ size: String) throws -> Int? {
      try CallOptions.parse(["--record", "o", "--queue-memory", size]).settings().call.recording?.memoryLimit
    }
    #expect(try limit("512MiB") == 512 << 20)
    #expect(try limit("2gb") == 2_000_000_000)
    #expect(try QueueMemory("1048576kB").description == "1000MiB")
    for wrong in ["512", "0MiB", "1kB", "65GiB", "-1GiB", "GiB", "1.5GiB", "9999999999999999999GiB", "10s"] {
      let sentence = rejection(of: CallOptions.self, "--record", "o", "--queue-memory=\(wrong)")
      #expect(
        sentence?.contains("The memory is a size between 1MiB and 64GiB, like 512MiB or 2GB, not \"\(wrong)\".") == true
      )
    }
    #expect(
      rejection(of: CallOptions.self, "--play", "f", "--queue-memory", "1GiB") == "--queue-memory needs --record.")
  }

  @Test("with required consent everybody is paused from the beginning, which needs a recording")
  func consent() throws {
    func paused(_ arguments: String...) throws -> PausedUsers? {
      try CallOptions.parse(["--record", "o"] + arguments).settings().call.recording?.paused
    }
    #expect(try paused() == .nobody)
    #expect(try paused("--consent", "given") == .nobody)
    #expect(try paused("--consent", "required") == .everybody)
    #expect(throws: (any Error).self) { try CallOptions.parse(["--record", "o", "--consent", "maybe"]) }
    let sentence = rejection(of: CallOptions.self, "--play", "f", "--consent", "required")
    #expect(sentence == "--consent needs --record.")
  }

  @Test("they become the settings of the library, each part whole")
  func settings() throws {
    let settings = try CallOptions.parse([
      "--room", "100", "--play", "a.webm", "--once", "--record", "out", "--segment", "10m", "--duration", "60",
      "--server",
      "wss://192.0.2.1", "--udp-port", "40000", "--max-bitrate", "1M", "--send-codec", "vp9", "--media-threads", "2",
      "--say",
      "hello", "--verify", "off", "--wait-for-server", "1s",
    ]).settings()
    #expect(settings.server.address == "wss://192.0.2.1" && !settings.mayStartServer)
    #expect(settings.server.signalling.room == "100" && settings.server.roomName == "100")
    #expect(settings.server.signalling.sends && settings.server.signalling.receives)
    #expect(settings.server.signalling.videoCodecs?.first == .vp9 && settings.server.waitForServer == .seconds(1))
    #expect(settings.camera?.input == .file("a.webm") && settings.mediaThreads == 2)
    #expect(settings.call.peer.udpPort == 40_000 && settings.call.peer.maximumSendBitrate == 1_000_000)
    #expect(settings.call.peer.videoCodecs == nil && settings.call.peer.acceptsRedundantAudio)
    #expect(settings.call.media.waitsForConnection && settings.call.media.endsWithSource)
    #expect(settings.call.media.loopbackDelay == nil)
    #expect(settings.call.recording?.folder == "out" && settings.call.recording?.room == "100")
    #expect(settings.call.recording?.segment?.duration == .seconds(600) && settings.call.recording?.verifies == false)
    #expect(settings.call.messages.texts == ["hello"] && settings.call.duration == .seconds(60))
    let echo = try CallOptions.parse(["--loopback", "--delay", "1s"]).settings()
    #expect(echo.call.media.loopbackDelay == .seconds(1) && echo.mayStartServer)
    #expect(echo.server.signalling.sends && echo.server.signalling.receives)
    let camera = try CallOptions.parse(["--play", "pattern"]).settings()
    #expect(camera.server.signalling.sends && !camera.server.signalling.receives && camera.call.recording == nil)
    let recorder = try CallOptions.parse(["--record", "out"]).settings()
    #expect(!recorder.server.signalling.sends && recorder.server.signalling.receives && recorder.camera == nil)
  }

  @Test("the size of a file has a unit or is in bytes, and is at least 1 byte and at most 1 PiB")
  func fileSizes() throws {
    func bytes(_ size: String) throws -> Int64 {
      try CallOptions.parse(["--receive-files", "in", "--max-file-size", size]).settings().call.messages
        .maximumFileBytes
    }
    for (size, expected) in [("500kB", 500_000), ("100mb", 100_000_000), ("2GiB", 2 << 30), ("12", 12), ("12B", 12)] {
      #expect(try bytes(size) == Int64(expected))
    }
    for size in ["0", "-1", "kB", "1.5MB", "12TB", "99999999999999999999GB"] {
      let sentence = rejection(of: CallOptions.self, "--receive-files", "in", "--max-file-size=\(size)")
      #expect(sentence?.contains("A size is a number with a unit, such as 500kB, 100MB or 2GB") == true, "\(size)")
    }
    for size in ["9000000000GB", "1200000GB"] {
      let sentence = rejection(of: CallOptions.self, "--receive-files", "in", "--max-file-size", size)
      #expect(sentence?.contains("The size \(size) is too large.") == true)
    }
  }

  @Test("the help names every option and its default")
  func help() {
    let help = CallOptions.helpMessage()
    for option in [
      "--room", "--server", "--play", "--play-audio", "--size", "--fps",
      "--live", "--send-codec", "--max-bitrate", "--loopback", "--delay", "--record", "--segment", "--queue-memory",
      "--consent", "--loop", "--once",
      "--duration",
      "--ice-server", "--udp-port",
      "--bind-address", "--bind-interface", "--log-level", "--quiet", "--verify",
    ] { #expect(help.contains(option)) }
    #expect(help.contains("ws://localhost:3000"))
  }
}

@Suite("the options of the room server")
struct ServeOptionsTests {
  @Test("by default it listens on loopback at port 3000 without TLS")
  func defaults() throws {
    let options = try ServeOptions.parse([])
    #expect(options.host == "127.0.0.1")
    #expect(options.port == 3000)
    #expect(options.tls == nil)
  }

  @Test("certificate and key must be given together")
  func tls() throws {
    let options = try ServeOptions.parse([
      "--host", "::", "--port", "8443", "--tls-certificate", "c.pem", "--tls-key", "k.pem",
    ])
    #expect(options.tls?.certificate == "c.pem")
    #expect(options.tls?.key == "k.pem")
    #expect(rejection(of: ServeOptions.self, "--tls-key", "k") == "--tls-key needs --tls-certificate.")
    #expect(rejection(of: ServeOptions.self, "--tls-certificate", "c") == "--tls-certificate needs --tls-key.")
    #expect(rejection(of: ServeOptions.self, "--host", "") == "--host needs an address.")
  }
}

@Suite("exit codes")
struct ExitStatusTests {
  @Test("exit codes are unique, 1 and 2 are for verdicts, and invalid usage has the parser's code")
  func numbers() {
    #expect(Set(ExitStatus.allCases.map(\.rawValue)).count == 12)
    #expect(ExitStatus.inconclusive.rawValue == 2)
    #expect(ExitStatus.ruleFailed.rawValue == 1)
    #expect(ExitStatus.usage.exitCode == ExitCode.validationFailure)
    #expect(ExitStatus.success.exitCode == ExitCode.success)
  }

  @Test("the table has a line for each exit code")
  func table() {
    #expect(ExitStatus.table.split(separator: "\n").count == 14)
    #expect(ExitStatus.table.contains("  69  the server was not reached"))
  }
}

/// It takes a second in a program that is not optimised.
private let described = Result { try CommandLineSettings.program() }

private let nothing =
  "There is nothing to do: give --record FOLDER, --play FILE, --loopback, --say TEXT, --send-file FILE or "
  + "--receive-files FOLDER."
