import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Mistakes of users and of other programs: each yields a sentence and the right exit code, and affects no other participant.
  @Suite("bad input") struct BadInputTests {
    /// The exit codes that `chatbot --help` lists.
    enum Code {
      static let usage: Int32 = 64
      static let nothingRecorded: Int32 = 65
      static let fileNotPlayable: Int32 = 66
      static let serverNotReached: Int32 = 69
      static let disk: Int32 = 73
    }

    @Test("a file that does not exist is rejected before joining")
    func noSuchFile() async throws {
      try await refused(["--play", "nowhere.webm"], Code.fileNotPlayable, saying: "nowhere.webm")
    }

    @Test("a file that is not a WebM is rejected before joining")
    func notAWebM() async throws {
      try await refused(["--play", "text.webm"], Code.fileNotPlayable, saying: "text.webm") { folder in
        try Data("This is a letter, not a film.\n".utf8).write(to: folder.appendingPathComponent("text.webm"))
      }
    }

    @Test("a file with an unknown codec is rejected with the codec's name")
    func anotherCodec() async throws {
      try await refused(["--play", "other.mkv"], Code.fileNotPlayable, saying: "ffv1") { folder in
        let made = try ExternalTool.run(
          "ffmpeg",
          [
            "-v", "error", "-f", "lavfi", "-i", "testsrc=size=160x120:rate=10:duration=1", "-c:v", "ffv1",
            folder.appendingPathComponent("other.mkv").path,
          ])
        #expect(made.status == 0)
      }
    }

    @Test(
      "an invalid option is a usage error",
      arguments: [
        ["--duration", "soon", "--record", "out"], ["--server", "ftp://127.0.0.1", "--record", "out"], ["--wrong"], [],
      ])
    func badUsage(_ arguments: [String]) async throws {
      try await refused(arguments, Code.usage, saying: "Error: ")
    }

    @Test("a server that is not running is named in the error")
    func noServer() async throws {
      try await Scenario.run("bad no server") { scenario in
        let port = try await scenario.network.freePort()
        let bot = try await scenario.bot(
          "bot", ["--server", "ws://127.0.0.1:\(port)", "--record", scenario.recordings().path])
        #expect(try await bot.ending(within: .seconds(20)) == .exit(Code.serverNotReached))
        #expect(bot.output.contains("127.0.0.1:\(port)"))
      }
    }

    @Test("a folder that cannot be written to is a disk error")
    func folderThatIsAFile() async throws {
      try await Scenario.run("bad folder") { scenario in
        let server = try await scenario.server()
        try Data().write(to: scenario.folder.appendingPathComponent("file"))
        let bot = try await scenario.bot("bot", ["--server", server.address, "--record", "file/out"])
        #expect(try await bot.ending(within: .seconds(10)) == .exit(Code.disk))
        #expect(bot.output.contains("file/out"))
      }
    }

    @Test("an empty room yields no recording")
    func nobodyThere() async throws {
      try await Scenario.run("bad nobody there") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let bot = try await scenario.bot(
          "bot", ["--server", server.address, "--record", folder.path, "--duration", "500ms"])
        #expect(try await bot.ending(within: .seconds(10)) == .exit(Code.nothingRecorded))
        #expect(folder.files("webm").isEmpty)
      }
    }

    @Test("invalid messages of the server do not stop the bot")
    func nonsenseFromTheServer() async throws {
      try await Scenario.run("bad nonsense from the server") { scenario in
        let server = try await ScriptedServer(in: scenario.network) { text in
          guard text.contains("__join") else { return [] }
          return [
            #"{"eventName":"_peers","data":{"connections":[],"you":"me"}}"#, "{", "null", "[]", "7", #""_offer""#,
            #"{"eventName":"_offer"}"#, #"{"eventName":"_offer","data":null}"#,
            #"{"eventName":"_offer","data":{"sdp":{"type":"offer","sdp":5},"socketId":"a"}}"#,
            #"{"eventName":"_offer","data":{"sdp":"nonsense","socketId":"a"}}"#,
            #"{"eventName":"_answer","data":{"sdp":{},"socketId":"nobody"}}"#,
            #"{"eventName":"_ice_candidate","data":{"candidate":"candidate:x y z","socketId":"a"}}"#,
            #"{"eventName":"_remove_peer","data":{"socketId":["a"]}}"#, #"{"eventName":"_new_peer","data":{}}"#,
            #"{"eventName":"something else","data":{}}"#,
          ]
        }
        let bot = try await scenario.bot(
          "bot", ["--server", server.address, "--play", BuiltProgram.sample.path, "--loop", "--duration", "3s"])
        #expect(try await bot.ending(within: .seconds(15)) == .exit(0))
        await server.close()
      }
    }

    /// Expects a run to end at once with this code and with a sentence that contains `words`.
    private func refused(
      _ arguments: [String], _ code: Int32, saying words: String,
      after prepare: @escaping @Sendable (URL) throws -> Void = { _ in }
    ) async throws {
      let name = "bad " + (arguments.isEmpty ? "nothing" : arguments.joined(separator: " "))
      try await Scenario.run(name) { scenario in
        try prepare(scenario.folder)
        // A server that no bot may contact: bad input is rejected before joining.
        let server = arguments.contains("--play") ? ["--server", "ws://127.0.0.1:9"] : []
        let bot = try await scenario.bot("bot", arguments + server)
        #expect(try await bot.ending(within: .seconds(10)) == .exit(code))
        #expect(bot.output.localizedCaseInsensitiveContains(words), "the output is \(bot.output)")
      }
    }
  }
}
