import ArgumentParser
import LiveSource
import Media
import Testing

@testable import chatbot

@Suite("the options of a camera")
struct PlayOptionsTests {
  @Test("a file, the pattern and standard input are distinguished")
  func inputs() throws {
    #expect(try PlayOptions.parse([]).camera == nil)
    let file = try #require(try PlayOptions.parse(["--play", "a.webm"]).camera)
    #expect(file.input == .file("a.webm"))
    #expect(file.loops && !file.live && file.size == nil && file.fps == nil && file.audio == nil)
    #expect(file.maximumBitrate == 2_500_000)
    #expect(try PlayOptions.parse(["--play", "pattern"]).camera?.input == .pattern)
    #expect(try PlayOptions.parse(["--play", "./pattern"]).camera?.input == .file("./pattern"))
    #expect(try PlayOptions.parse(["--play", "-", "--size", "640x480"]).camera?.input == .standardInput)
  }

  @Test("each option is parsed")
  func everything() throws {
    let camera = try #require(
      try PlayOptions.parse([
        "--play", "v.y4m", "--play-audio", "a.wav", "--size", "320x180", "--fps", "30000/1001", "--live",
        "--max-bitrate",
        "800k", "--once",
      ]).camera)
    #expect(camera.audio == "a.wav")
    #expect(camera.size == VideoSize(width: 320, height: 180))
    #expect(abs((camera.fps ?? 0) - 29.97) < 0.001)
    #expect(camera.live && !camera.loops)
    #expect(camera.maximumBitrate == 800_000)
  }

  @Test(
    "options of a camera are rejected without --play",
    arguments: [
      (["--once"], "--once"), (["--play-audio", "a.wav"], "--play-audio"), (["--size", "640x480"], "--size"),
      (["--fps", "30"], "--fps"), (["--live"], "--live"), (["--send-codec", "vp8"], "--send-codec"),
    ])
  func withoutCamera(_ arguments: [String], name: String) throws {
    let refused = #expect(throws: (any Error).self) { try PlayOptions.parse(arguments) }
    #expect(PlayOptions.message(for: try #require(refused)) == "\(name) needs --play.")
  }

  @Test("video is sent of the preferred codec or of the one that is named", arguments: Codec.all(of: .video))
  func sendCodec(codec: Codec) throws {
    #expect(try PlayOptions.parse(["--play", "pattern"]).camera?.videoCodec == .preferred(for: .video))
    let named = try PlayOptions.parse(["--play", "pattern", "--send-codec", codec.rawValue.uppercased()])
    #expect(named.camera?.videoCodec == codec)
  }

  @Test("a codec that is not known is rejected with those that are", arguments: ["opus", "theora", ""])
  func unknownCodec(name: String) throws {
    let refused = #expect(throws: (any Error).self) {
      try PlayOptions.parse(["--play", "pattern", "--send-codec", name])
    }
    let message = PlayOptions.message(for: try #require(refused))
    for codec in Codec.all(of: .video) { #expect(message.contains(codec.rawValue)) }
  }

  @Test("standard input may state its own size, so --size is not required")
  func standardInput() throws {
    let camera = try #require(try PlayOptions.parse(["--play", "-"]).camera)
    #expect(camera.input == .standardInput && camera.size == nil)
  }
}
