import ArgumentParser
import BotPeer
import Call
import Foundation
import HTTPTransport
import Load
import Media
import SignallingAdapters
import Testing

@testable import chatbot

@Suite("the options for room, server and network")
struct ConnectionOptionsTests {
  private static let given = [
    "--room", "100", "--server", "wss://calls.example:8443", "--ice-server", "stun:one.example", "--udp-port", "40000",
    "--bind-address", "192.0.2.1", "--ca-certificate", "ca.pem", "--no-allow-local-candidates", "--max-users", "7",
    "--media-threads", "2", "--wait-for-server", "1min",
  ]

  private static func settings(_ arguments: [String]) throws -> ConnectionSettings {
    try ConnectionOptions.parse(arguments).settings(sends: true, receives: true)
  }

  @Test("every command that joins a call parses them in the same way")
  func alike() throws {
    let call = try CallOptions.parse(["--play", "pattern"] + Self.given)
    let check = try CheckOptions.parse(Self.given)
    let load = try LoadOptions.parse(["--play", "pattern", "--publishers", "3"] + Self.given)
    for options in [call.connection, check.connection, load.connection] {
      let settings = try options.settings(sends: true, receives: false)
      #expect(settings.server.address == "wss://calls.example:8443" && settings.server.waitForServer == .seconds(60))
      let signalling = settings.server.signalling
      #expect(signalling.room == "100" && signalling.user == nil && signalling.callees == [])
      #expect(signalling.trust == .file("ca.pem") && signalling.maximumUsers == 7)
      #expect(signalling.sends && !signalling.receives)
      #expect(settings.peer.caCertificate == "ca.pem" && settings.peer.iceServers == ["stun:one.example"])
      #expect(settings.peer.udpPort == 40_000 && settings.peer.bindAddresses == ["192.0.2.1"])
      #expect(!settings.peer.allowsLocalCandidates)
      #expect(options.mediaThreads == 2)
    }
  }

  @Test("RED is wanted by a call that records, not by a check, and --audio-redundancy overrides that")
  func audioRedundancy() throws {
    func call(_ arguments: String...) throws -> Bool {
      try CallOptions.parse(arguments).settings().call.peer.acceptsRedundantAudio
    }
    func check(_ arguments: String...) throws -> Bool {
      try CheckOptions.parse(arguments).settings().call.peer.acceptsRedundantAudio
    }
    #expect(try call("--record", "out") && !call("--loopback") && !call("--play", "pattern"))
    #expect(try !call("--record", "out", "--audio-redundancy", "off"))
    #expect(try call("--loopback", "--audio-redundancy", "on"))
    #expect(try !check() && !check("--record", "out") && check("--audio-redundancy", "on"))
    let load = try LoadOptions.parse(["--play", "pattern", "--publishers", "1", "--receive"]).settings()
    #expect(!load.peer.acceptsRedundantAudio)
  }

  @Test("the codecs that may be used go to the peer and to the signalling system, each kind in its order")
  func codecs() throws {
    let settings = try Self.settings(["--video-codecs", "h264,vp8", "--audio-codecs", "PCMU,opus"])
    #expect(settings.peer.videoCodecs == [.h264, .vp8] && settings.peer.audioCodecs == [.pcmu, .opus])
    #expect(settings.server.signalling.videoCodecs == [.h264, .vp8])
    let plain = try Self.settings([]).peer
    #expect(plain.videoCodecs == nil && plain.audioCodecs == nil && plain.sendingCodecs.isEmpty)
  }

  @Test("our name is that of --name, else that of --user, else chatbot, with the suffix of a publisher")
  func names() throws {
    func name(_ arguments: String..., suffix: String = "") throws -> String {
      var settings = try Self.settings(arguments).server.signalling
      settings.suffix = suffix
      return settings.displayName
    }
    #expect(try name() == "chatbot")
    let program = "exec:adapter"
    #expect(try name("--server", program, "--user", "bot", suffix: "-2") == "bot-2")
    #expect(try name("--server", program, "--user", "bot", "--name", "Ann of Essex") == "Ann of Essex")
    let long = String(repeating: "x", count: 64)
    #expect(try name("--name", long, suffix: "-17") == String(long.prefix(61)) + "-17")
    for server in ["ws://a.example", "janus+wss://a.example", program] {
      #expect(try name("--server", server, "--user", "bot") == "bot", "\(server)")
    }
    for wrong in ["", " ", "\u{202E}", long + "x"] {
      #expect(
        rejection(of: CallOptions.self, "--play", "pattern", "--name", wrong)
          == "--name has 1 to 64 characters, of which at least one is visible.")
    }
    #expect(try Self.settings(["--server", program, "--user", "bot"]).server.signalling.name == nil)
  }

  @Test("options of other systems are refused with the systems that use them")
  func optionsOfOtherSystems() throws {
    let cases = [
      (["--token-file", "t"], "SkyRTC does not use --token-file; Firestore, WHIP, WHEP, Janus and exec do."),
      (
        ["--server", "whip+http://a.example/whip/1", "--user", "bot"],
        "WHIP does not use --user; SkyRTC, socket.io, Janus and exec do."
      ),
      (["--call", "anna"], "SkyRTC does not use --call; socket.io and exec do."),
      (["--pin-file", "p"], "SkyRTC does not use --pin-file; Janus does."),
      (["--api-secret-file", "p"], "SkyRTC does not use --api-secret-file; Janus does."),
      (["--room-token-file", "p"], "SkyRTC does not use --room-token-file; Janus does."),
      (["--allow-redirects"], "SkyRTC does not use --allow-redirects; WHIP and WHEP do."),
      (
        ["--server", "whep+http://a.example/whep/1", "--room", "1"],
        "WHEP does not use --room; SkyRTC, Janus and exec do."
      ),
    ]
    for (arguments, sentence) in cases {
      let refused = #expect(throws: (any Error).self) { try ConnectionOptions.parse(arguments) }
      #expect(ConnectionOptions.message(for: try #require(refused)) == sentence)
    }
    let used = ["--server", "socketio+http://a.example", "--user", "bot", "--call", "anna", "--call", "bob"]
    let signalling = try Self.settings(used).server.signalling
    #expect(signalling.user == "bot" && signalling.callees == ["anna", "bob"])
    // A TURN server learns the name too.
    let turn = ["--server", "whip+http://a.example/whip/1", "--user", "bot", "--ice-server", "turn:a.example"]
    #expect(throws: Never.self) { try ConnectionOptions.parse(turn) }
  }

  @Test("the address of the call page names server and room, unless --room names another one")
  func pageAddress() throws {
    let settings = try Self.settings(["--server", "https://calls.example/#100"])
    #expect(settings.server.address == "wss://calls.example" && settings.server.signalling.room == "100")
    #expect(try Self.settings(["--server", "localhost:3000"]).server.address == "ws://localhost:3000")
    #expect(try Self.settings(["--server", "localhost:3000"]).peer.includesLoopback)
    #expect(
      try Self.settings(["--server", "http://localhost:3000/#100", "--room", "100"]).server.signalling.room == "100")
    let conflict = rejection(of: ConnectionOptions.self, "--server", "http://localhost:3000/#100", "--room", "7")
    #expect(conflict == "--server names the room 100, but --room is 7; one of them suffices.")
    let media = rejection(of: ConnectionOptions.self, "--server", "https://media.example/whip/1")
    #expect(
      media
        == "\"https://media.example/whip/1\" looks like the address of a media server; its address begins with whip+https://."
    )
  }

  @Test("several interfaces may be named")
  func interfaces() throws {
    let arguments = ["--play", "pattern", "--bind-interface", "eth0", "--bind-interface", "wlan0"]
    #expect(try CallOptions.parse(arguments).settings().call.peer.bindInterfaces == ["eth0", "wlan0"])
  }

  @Test(
    "the help of each command describes them with the same words under their own headings",
    arguments: [("ROOM AND SERVER", "--server <url>"), ("NETWORK", "--bind-address <address>")])
  func help(heading: String, option: String) {
    func section(_ help: String) -> Substring? {
      help.components(separatedBy: "\n\n").lazy.map { $0[...] }.first { $0.hasPrefix(heading + ":\n") }
    }
    let ofCall = section(CallOptions.helpMessage())
    #expect(ofCall?.contains(option) == true)
    #expect(section(CheckOptions.helpMessage()) == ofCall)
    #expect(section(LoadOptions.helpMessage()) == ofCall)
  }

  @Test("local candidates are checked if the server is local, or as the option says")
  func localCandidates() throws {
    func allows(_ server: String, _ said: Bool? = nil) throws -> Bool {
      let option = said.map { [$0 ? "--allow-local-candidates" : "--no-allow-local-candidates"] } ?? []
      return try Self.settings(["--server", server] + option).peer.allowsLocalCandidates
    }
    for server in [
      "ws://localhost:3000", "ws://127.0.0.1", "ws://[::1]:3000", "ws://192.168.1.2", "wss://10.0.0.1",
      "ws://[fd00::1]",
    ] {
      #expect(try allows(server), "\(server)")
      #expect(try !allows(server, false))
    }
    for server in ["wss://192.0.2.1", "wss://[2001:db8::1]", "wss://nowhere.invalid"] {
      #expect(try !allows(server), "\(server)")
      #expect(try allows(server, true))
    }
  }

  @Test(
    "ICE is restarted where the signalling carries offers during a call",
    arguments: [
      ("ws://localhost:3000", true), ("socketio+http://calls.example", true), ("firestore://project/rooms/1", false),
      ("whip+https://media.example/whip/1", true), ("whep+https://media.example/whep/1", true),
      ("janus+wss://media.example/?room=1", true),
    ])
  func restarts(server: String, isRestarted: Bool) throws {
    #expect(try Self.settings(["--server", server]).peer.restartsICE == isRestarted)
  }

  @Test("each command rejects an invalid value with the same sentence")
  func refused() {
    let port = "A port is 1 to 65535, not 99999."
    #expect(rejection(of: CallOptions.self, "--play", "pattern", "--server", "ws://a:99999") == port)
    #expect(rejection(of: CheckOptions.self, "--server", "ws://a:99999") == port)
    #expect(
      rejection(of: LoadOptions.self, "--play", "pattern", "--publishers", "1", "--server", "ws://a:99999") == port)
  }

  @Test("CA certificates may be for TURN servers alone, and a file without one is rejected with a sentence")
  func authority() {
    #expect(rejection(of: CheckOptions.self, "--ca-certificate", "ca.pem") == nil)
    #expect(
      rejection(
        of: CheckOptions.self, "--ca-certificate", "ca.pem", "--server", "ws://a", "--ice-server", "turns:turn.example")
        == nil)
    #expect(
      rejection(of: CheckOptions.self, "--ca-certificate", "", "--server", "wss://a")
        == "--ca-certificate needs the name of a file.")
    #expect(throws: Never.self) { try ServerSettings(address: "wss://a").check() }
    for (file, reason) in [
      ("/nowhere/ca.pem", "no such file or directory"), (#filePath, "it contains no PEM certificate"),
    ] {
      let failure = #expect(throws: CallFailure.self) {
        try Self.settings(["--server", "wss://192.0.2.1", "--ca-certificate", file]).server.check()
      }
      #expect(failure?.code == .usage)
      #expect(failure?.sentence == "The certificates in \(file) cannot be read: \(reason).")
    }
  }

  @Test("loopback addresses are used if the server runs on this machine, whatever its host name")
  func here() throws {
    for server in ["ws://localhost:3000", "wss://127.0.0.1:1", "ws://[::1]:3000/room"] {
      #expect(try ServerSettings(address: server).isHere)
      #expect(try Self.settings(["--server", server]).peer.includesLoopback)
    }
    for server in ["ws://localhost.example", "wss://calls.example:8443", "ws://192.0.2.1:3000"] {
      #expect(try !ServerSettings(address: server).isHere)
      #expect(try !Self.settings(["--server", server, "--no-allow-local-candidates"]).peer.includesLoopback)
    }
  }

  @Test("publishers of a load use consecutive UDP ports, of which there must be enough")
  func ports() throws {
    let load = try LoadOptions.parse(["--play", "pattern", "--publishers", "3", "--udp-port", "65533"]).settings()
    #expect((0..<3).map { load.peerConfiguration(of: $0).udpPort } == [65_533, 65_534, 65_535])
    let free = try LoadOptions.parse(["--play", "pattern", "--publishers", "3"]).settings()
    #expect((0..<3).map { free.peerConfiguration(of: $0).udpPort } == [0, 0, 0])
    #expect(
      rejection(of: LoadOptions.self, "--play", "pattern", "--publishers", "4", "--udp-port", "65533")
        == "4 publishers take the UDP ports from 65533 to 65536, but 65535 is the last one.")
  }
}
