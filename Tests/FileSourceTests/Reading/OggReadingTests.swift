import FileSource
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Ogg")
struct OggReadingTests {
  let folder: ScratchFolder
  let packet = WebMBuilder.opus20ms

  init() throws {
    folder = try ScratchFolder()
  }

  func open(_ bytes: [UInt8]) throws -> MediaFile { try MediaFile(opening: folder.write(bytes, as: "a.ogg")) }

  func rejection(_ bytes: [UInt8]) throws -> String? { MediaFile.rejection(try folder.write(bytes, as: "a.ogg")) }

  @Test("a file written by opusenc is read packet by packet, each at the end of the previous one")
  func opusenc() throws {
    let wave = folder.path("a.wav")
    try Sample.make(wave, "-f", "lavfi", "-i", "sine=d=3:r=48000", "-ac", "2")
    let path = folder.path("a.opus")
    let result = try ExternalTool.run("opusenc", ["--quiet", wave, path])
    try #require(result.status == 0)
    let file = try MediaFile(opening: path)
    #expect(file.format == .ogg)
    let track = try #require(file.track(.audio))
    #expect(track.channels == 2)
    #expect(try file.ticks(.audio) == (0..<Int64(track.frames)).map { $0 * 960 })
    #expect(file.duration == .milliseconds(20 * track.frames))
    #expect(file.notes.isEmpty)
  }

  @Test("a gap in the granule positions stays a gap")
  func gap() throws {
    var ogg = OggBuilder()
    let file = try open(
      ogg.headers() + ogg.page([packet, packet], granule: 1920) + ogg.page([packet], granule: 1920 + 48_000 + 960)
        + ogg.page([packet], granule: 1920 + 48_000 + 1920, flags: OggBuilder.ends))
    #expect(try file.ticks(.audio) == [0, 960, 1920 + 48_000, 1920 + 48_960])
  }

  @Test("the last packet is played whole although the last page states an earlier end")
  func endTrimming() throws {
    var ogg = OggBuilder()
    let file = try open(
      ogg.headers() + ogg.page([packet, packet], granule: 1920)
        + ogg.page([packet, packet], granule: 3000, flags: OggBuilder.ends))
    #expect(try file.ticks(.audio) == [0, 960, 1920, 2880])
    #expect(file.duration == .milliseconds(80))
  }

  @Test("a stream cut out of a longer one begins at its first packet, whatever its granule position")
  func laterStart() throws {
    var ogg = OggBuilder()
    let start: Int64 = 48_000 * 3600 * 24 * 30
    let file = try open(ogg.headers() + ogg.page([packet], granule: start) + ogg.page([packet], granule: start + 960))
    #expect(try file.ticks(.audio) == [0, 960])
  }

  @Test("a packet that spans several pages is reassembled")
  func longPackets() throws {
    var ogg = OggBuilder()
    let long = [0xfb, 0x01] + [UInt8](repeating: 9, count: 253 + 255)
    let file = try open(
      ogg.headers() + ogg.page(segments: [255], body: Array(long.prefix(255)), granule: -1, flags: 0)
        + ogg.page(segments: [255, 0], body: Array(long.dropFirst(255)), granule: 960, flags: OggBuilder.continues))
    #expect(try file.frames(.audio).map(\.payload.readableBytes) == [510])
  }

  @Test("a file truncated anywhere is played up to the last whole page, or refused")
  func truncated() throws {
    var ogg = OggBuilder()
    let whole =
      ogg.headers() + (1...5).flatMap { ogg.page([packet, packet], granule: Int64($0 * 1920)) }
    for length in 1..<whole.count {
      guard let file = try? open(Array(whole.prefix(length))) else { continue }
      let frames = try file.frames(.audio).count
      #expect(frames < 10 && frames.isMultiple(of: 2))
    }
    #expect(try open(Array(whole.dropLast(3))).notes == ["It is truncated; the whole frames are played."])
  }

  @Test("chained and multiplexed streams are refused")
  func severalStreams() throws {
    var one = OggBuilder(serial: 1)
    var two = OggBuilder(serial: 2)
    let first = one.headers() + one.page([packet], granule: 960, flags: OggBuilder.ends)
    #expect(
      try rejection(first + two.headers())
        == "cannot be played: at byte \(first.count) a second Ogg stream begins (chained), and one is played.")

    let path = folder.path("two.ogg")
    try Sample.make(
      path, "-f", "lavfi", "-i", "sine=d=1:r=48000", "-f", "lavfi", "-i", "sine=d=1:r=48000", "-map", "0", "-map", "1",
      "-c:a", "libopus")
    #expect(
      MediaFile.rejection(path)
        == "cannot be played: it has several Ogg streams side by side, and one Opus stream is played.")

    var three = OggBuilder(serial: 1)
    let stray = three.headers() + three.page([packet], granule: 960)
    var other = OggBuilder(serial: 9)
    #expect(
      try rejection(stray + other.page([packet], granule: 960))
        == "cannot be played: at byte \(stray.count) an Ogg page belongs to another stream.")
  }

  @Test("damaged pages, missing pages and pages without a granule position are refused")
  func damaged() throws {
    var ogg = OggBuilder()
    let headers = ogg.headers()
    var page = ogg.page([packet], granule: 960)
    let next = ogg.page([packet], granule: 1920)
    page[page.count - 1] ^= 1
    #expect(
      try rejection(headers + page + next)?.hasSuffix("are not a whole Ogg page, or its checksum is wrong.") == true)

    var lossy = OggBuilder()
    let before = lossy.headers() + lossy.page([packet], granule: 960)
    lossy.losePage()
    #expect(
      try rejection(before + lossy.page([packet], granule: 2880))
        == "cannot be played: at byte \(before.count) an Ogg page is missing.")

    for granule in [Int64(-1), -5, .max] {
      var ogg = OggBuilder()
      #expect(
        try rejection(ogg.headers() + ogg.page([packet], granule: granule))?.hasSuffix(
          "an Ogg page has no granule position.")
          == true)
    }
  }

  @Test("a stream without audio, without comments, or with another codec's packets is refused")
  func incomplete() throws {
    var ogg = OggBuilder()
    #expect(try rejection(ogg.headers()) == "cannot be played: no frame of its tracks can be played.")
    var bare = OggBuilder()
    #expect(
      try rejection(bare.page([WebMBuilder.opusHead()], granule: 0, flags: OggBuilder.begins))
        == "cannot be played: no frame of its tracks can be played.")
    var noTags = OggBuilder()
    #expect(
      try rejection(
        noTags.page([WebMBuilder.opusHead()], granule: 0, flags: OggBuilder.begins)
          + noTags.page([packet], granule: 960))?.hasSuffix("the second Ogg packet is not OpusTags.") == true)
    var wrong = OggBuilder()
    #expect(
      try rejection(wrong.headers() + wrong.page([[0xff, 0]], granule: 960))?
        .hasSuffix("a packet of 2 bytes is not Opus.") == true)
  }

  @Test("an endless packet does not exhaust memory")
  func endlessPacket() throws {
    var ogg = OggBuilder()
    var bytes = ogg.headers() + ogg.page([packet], granule: 960)
    let body = [UInt8](repeating: 1, count: 255 * 255)
    for _ in 0..<3 {
      bytes += ogg.page(
        segments: [UInt8](repeating: 255, count: 255), body: body, granule: -1, flags: OggBuilder.continues)
    }
    #expect(try rejection(bytes)?.hasSuffix("a packet is larger than 65536 bytes.") == true)
  }
}
