import FileSource
import Media
import NIOCore
import TestSupport
import Testing

@Suite("WebM")
struct WebMReadingTests {
  typealias W = WebMBuilder

  let folder: ScratchFolder

  init() throws {
    folder = try ScratchFolder()
  }

  func open(_ bytes: [UInt8]) throws -> MediaFile { try MediaFile(opening: folder.write(bytes, as: "a.webm")) }

  func rejection(_ bytes: [UInt8]) throws -> String? { MediaFile.rejection(try folder.write(bytes, as: "a.webm")) }

  /// Returns a file with one cluster.
  func file(tracks: [UInt8] = W.tracks(W.video(), W.audio()), _ blocks: [UInt8]...) -> [UInt8] {
    W.header() + W.segment(W.info(), tracks, W.cluster(at: 0, blocks.flatMap(\.self)))
  }

  // MARK: What is played

  @Test("a segment and clusters of unknown size, as live recorders write them, are played")
  func live() throws {
    let path = folder.path("live.webm")
    try Sample.make(path, "-i", Sample.path, "-c", "copy", "-t", "2", "-f", "webm", "-live", "1")
    let file = try MediaFile(opening: path)
    #expect(file.track(.video)?.frames == 60)
    #expect(file.notes.isEmpty)

    let unsized =
      W.header()
      + W.unsized(
        0x1853_8067,
        W.info() + W.tracks(W.video())
          + W.unsized(0x1F43_B675, W.number(0xE7, 0) + W.block(track: 1, at: 0, W.keyframe()))
          + W.unsized(0x1F43_B675, W.number(0xE7, 500) + W.block(track: 1, at: 0, W.interframe)))
    #expect(try open(unsized).ticks(.video) == [0, 45_000])
  }

  @Test("a file without Duration, or with an implausible one, is as long as its frames")
  func duration() throws {
    let blocks = W.cluster(
      at: 0, W.block(track: 1, at: 0, W.keyframe()), W.block(track: 1, at: 40, W.interframe),
      W.block(track: 1, at: 80, W.interframe))
    #expect(try open(W.header() + W.segment(W.tracks(W.video()), blocks)).duration == .milliseconds(120))
    for bits in [Double.infinity, .nan, 0, -5, 1e300].map(\.bitPattern) {
      let info = W.element(0x1549_A966, W.element(0x4489, W.bigEndian(bits, bytes: 8)))
      #expect(try open(W.header() + W.segment(info, W.tracks(W.video()), blocks)).duration == .milliseconds(120))
    }
  }

  @Test("a file with video only or audio only is played")
  func oneTrack() throws {
    let video = try open(file(tracks: W.tracks(W.video()), W.block(track: 1, at: 0, W.keyframe())))
    #expect(video.tracks.map(\.codec) == [.vp8])
    let audio = try open(file(tracks: W.tracks(W.audio()), W.block(track: 2, at: 0, W.opus20ms)))
    #expect(audio.tracks.map(\.codec) == [.opus])
    #expect(audio.duration == .milliseconds(20))
  }

  @Test("the codec delay is subtracted from the audio's times, so audio and video keep their true offset")
  func codecDelay() throws {
    let file = try open(
      file(
        tracks: W.tracks(W.video(), W.audio(delay: 6_500_000)), W.block(track: 2, at: 0, W.opus20ms),
        W.block(track: 1, at: 0, W.keyframe())))
    #expect(try file.ticks(.audio) == [0])
    #expect(try file.ticks(.video) == [585])
  }

  @Test("block groups are played with their durations, and alpha planes are skipped")
  func blockGroups() throws {
    let path = folder.path("alpha.webm")
    try Sample.make(
      path, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=1", "-vf", "format=yuva420p", "-c:v", "libvpx",
      "-auto-alt-ref", "0")
    #expect(try MediaFile(opening: path).track(.video)?.frames == 10)

    let group = W.element(
      0xA0, W.element(0xA1, [0x81, 0, 0, 0] + W.keyframe()) + W.number(0x9B, 250) + W.number(0xFB, 3))
    #expect(try open(file(tracks: W.tracks(W.video()), group)).duration == .milliseconds(250))
  }

  @Test("laced audio, as mkvmerge writes it, is played packet by packet")
  func laces() throws {
    let path = folder.path("laced.webm")
    let result = try ExternalTool.run("mkvmerge", ["-q", "--webm", "-o", path, Sample.path])
    try #require(result.status == 0)
    let laced = try MediaFile(opening: path)
    let plain = try MediaFile(opening: Sample.path)
    #expect(try laced.frames(.audio).map(\.payload) == plain.frames(.audio).map(\.payload))
    #expect(try laced.ticks(.audio) == plain.ticks(.audio))
    #expect(try laced.ticks(.video) == plain.ticks(.video))

    let long: [UInt8] = [0xfc] + [UInt8](repeating: 7, count: 299)
    let xiph: [UInt8] = [0x82, 0, 0, 0x02, 2, 255, 45, 3] + long + W.opus20ms + [0xfc, 1]
    let ebml: [UInt8] = [0x82, 0, 60, 0x06, 2, 0x41, 0x2c, 0x5e, 0xd6] + long + W.opus20ms + [0xfc, 1]
    let fixed: [UInt8] = [0x82, 0, 120, 0x04, 1] + W.opus20ms + W.opus20ms
    let file = try open(
      file(tracks: W.tracks(W.audio()), W.element(0xA3, xiph), W.element(0xA3, ebml), W.element(0xA3, fixed)))
    #expect(try file.frames(.audio).map(\.payload.readableBytes) == [300, 3, 2, 300, 3, 2, 3, 3])
    #expect(try file.ticks(.audio) == (0..<8).map { $0 * 960 })
  }

  @Test("laces with inconsistent sizes are refused")
  func wrongLaces() throws {
    for laces: [UInt8] in [
      [0x82, 0, 0, 0x02, 9, 1, 1], [0x82, 0, 0, 0x02, 1, 255, 255, 255, 0, 1], [0x82, 0, 0, 0x04, 1, 1, 2, 3],
      [0x82, 0, 0, 0x06, 2, 0x81, 0x80, 1, 2],
      [0x82, 0, 0, 0x06, 1, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
      [0x82, 0, 0, 0x06, 1, 0xff, 1], [0x82, 0, 0, 0x04, 255, 1],
    ] {
      #expect(try rejection(file(tracks: W.tracks(W.audio()), W.element(0xA3, laces))) != nil)
    }
  }

  @Test("a file whose tracks are not interleaved is played with both tracks in time")
  func notInterleaved() throws {
    let videoFrames = (0..<25).flatMap { W.block(track: 1, at: Int16($0 * 40), $0 == 0 ? W.keyframe() : W.interframe) }
    let audio = (0..<50).flatMap { W.block(track: 2, at: Int16($0 * 20), W.opus20ms) }
    let file = try open(file(videoFrames, audio))
    #expect(try file.ticks(.video) == (0..<25).map { $0 * 3600 })
    #expect(try file.ticks(.audio) == (0..<50).map { $0 * 960 })
  }

  @Test("frames before the first keyframe, and empty audio packets, are skipped, and a note says so")
  func beforeKeyframe() throws {
    let file = try open(
      file(
        tracks: W.tracks(W.video()), W.block(track: 1, at: 0, W.interframe), W.block(track: 1, at: 40, W.keyframe()),
        W.block(track: 1, at: 80, W.interframe)))
    #expect(try file.ticks(.video) == [0, 3600])
    #expect(file.notes == ["1 of 3 video frames are skipped."])
  }

  @Test("of several tracks of a kind, the first playable one is chosen")
  func severalTracks() throws {
    let file = try open(
      file(
        tracks: W.tracks(W.video(number: 1, codec: "V_VP9"), W.video(number: 2), W.video(number: 3)),
        W.block(track: 1, at: 0, [1, 2, 3]), W.block(track: 2, at: 0, W.keyframe())))
    // Only the second track has such a frame.
    #expect(try file.frames(.video).map { Array($0.payload.readableBytesView) } == [W.keyframe()])
    #expect(file.notes == ["2 more tracks are skipped."])
  }

  @Test("a file truncated anywhere is played up to the last whole frame, or refused, and never crashes")
  func truncated() throws {
    let sample = Array(try Sample.bytes().prefix(20_000))
    var played = 0
    for length in Array(1..<1200) + Array(stride(from: 1200, to: 20_000, by: 97)) {
      guard let file = try? open(Array(sample.prefix(length))) else { continue }
      played += 1
      #expect(file.notes.contains("It is truncated; the whole frames are played."))
    }
    #expect(played > 30)
  }

  // MARK: What is refused

  @Test("laced video, compressed and encrypted tracks, and a second file after the first are refused")
  func unsupported() throws {
    let laced = W.element(0xA3, [0x81, 0, 0, 0x04, 1] + W.keyframe() + W.keyframe())
    #expect(
      try rejection(file(tracks: W.tracks(W.video()), laced))?.hasSuffix("one block has several frames (lacing).")
        == true)

    let encryption = W.element(0x6D80, W.element(0x6240, W.number(0x5033, 1)))
    #expect(
      try rejection(file(tracks: W.tracks(W.video(extra: encryption)), W.block(track: 1, at: 0, W.keyframe())))
        == "cannot be played: its VP8 track is encrypted.")
    let compression = W.element(0x6D80, W.element(0x6240, W.number(0x5033, 0)))
    #expect(
      try rejection(file(tracks: W.tracks(W.audio(extra: compression)), W.block(track: 2, at: 0, W.opus20ms)))
        == "cannot be played: its Opus track is compressed (ContentEncodings).")

    let whole = file(tracks: W.tracks(W.video()), W.block(track: 1, at: 0, W.keyframe()))
    #expect(try rejection(whole + whole) == "cannot be played: at byte \(whole.count) a second WebM file begins.")
  }

  @Test("a header without required elements is refused")
  func missingInformation() throws {
    let videoFrame = W.block(track: 1, at: 0, W.keyframe())
    #expect(
      try rejection(file(tracks: W.tracks(W.video(number: nil)), videoFrame))
        == "cannot be played: its VP8 track has no number.")
    #expect(
      try rejection(file(tracks: W.tracks(W.video(codec: "")), videoFrame))
        == "cannot be played: its video is of a codec that the file does not name, and only VP8 is played.")
    #expect(try rejection(file(tracks: [], videoFrame)) == "cannot be played: it has no video and no audio.")
    #expect(
      try rejection(W.header() + W.segment(W.info(), W.cluster(at: 0, videoFrame), W.tracks(W.video())))
        == "cannot be played: it has no video and no audio.")
    let subtitles = W.element(0xAE, W.number(0xD7, 1) + W.number(0x83, 0x11) + W.text(0x86, "D_WEBVTT/SUBTITLES"))
    #expect(
      try rejection(file(tracks: W.tracks(subtitles), videoFrame))
        == "cannot be played: it has no video and no audio, only D_WEBVTT/SUBTITLES.")
    #expect(
      try rejection(W.header() + W.segment(W.info(), W.tracks(W.video()), W.cluster(at: nil, videoFrame)))?
        .hasSuffix("a cluster has no time, or an implausible one.") == true)
    #expect(
      try rejection(W.header(type: "other") + W.segment())
        == "cannot be played: it is an EBML file of another kind, and only WebM, Matroska, IVF, Ogg and MP4 are played as "
        + "stored."
    )
  }

  @Test("a file without a decodable frame is refused")
  func noMedia() throws {
    #expect(try rejection(file()) == "cannot be played: no frame of its tracks can be played.")
    #expect(try rejection(W.header()) == "cannot be played: it has no video and no audio.")
    #expect(
      try rejection(file(W.block(track: 1, at: 0, W.interframe)))
        == "cannot be played: no frame of its tracks can be played.")
    for block in [W.block(track: 1, at: 0, Self.noVP8), W.block(track: 2, at: 0, [0xff, 0])] {
      #expect(try rejection(file(block)) == "cannot be played: no frame of its tracks can be played.")
    }
  }

  private static let noVP8: [UInt8] = [0, 0, 0, 1, 2, 3, 4, 5, 6, 7]

  @Test("a damaged frame is skipped, with the frames that depend on it, and so is a damaged packet")
  func damagedFrames() throws {
    let frames = [W.keyframe(), W.interframe, Self.noVP8, W.interframe, W.keyframe(), W.interframe, W.interframe]
    let video = frames.enumerated().flatMap { W.block(track: 1, at: Int16($0 * 40), $1) }
    let audio = (0..<5).flatMap { W.block(track: 2, at: Int16($0 * 20), $0 == 2 ? [0xff, 0] : W.opus20ms) }
    let file = try open(file(video, audio))
    #expect(try file.ticks(.video) == [0, 40, 160, 200, 240].map { $0 * 90 })
    #expect(try file.ticks(.audio) == [0, 20, 60, 80].map { $0 * 48 })
    #expect(file.notes == ["2 of 7 video frames are skipped.", "1 of 5 audio frames are skipped."])
  }

  @Test("implausible sizes are refused without allocating memory for them")
  func hugeSizes() throws {
    let block = W.element(0xA3, [0x81, 0, 0, 0x80] + W.keyframe(), claiming: 1 << 40)
    let cluster = W.unsized(0x1F43_B675, W.number(0xE7, 0) + block)
    let body = W.unsized(0x1853_8067, W.info() + W.tracks(W.video()) + cluster)
    #expect(
      try rejection(W.header() + body)?.hasSuffix("a frame claims 1099511627772 bytes, and 4194304 are the maximum.")
        == true
    )

    let title = W.element(0x1549_A966, W.element(0x7BA9, [1], claiming: 1 << 30))
    #expect(try rejection(W.header() + W.unsized(0x1853_8067, title)) != nil)
    let info = W.element(0x1549_A966, [1], claiming: 1 << 30)
    #expect(
      try rejection(W.header() + W.unsized(0x1853_8067, info))?.hasSuffix(
        "an element claims 1073741824 bytes, and 1048576 are the maximum.") == true)
    let tracks = W.unsized(0x1654_AE6B, W.video())
    #expect(
      try rejection(W.header() + W.segment(W.info(), tracks))?.hasSuffix("an element has no size.")
        == true)
  }

  /// Some recorders in browsers write such blocks; ffmpeg and browsers play them.
  @Test("a frame whose time is before that of the previous one is shown directly after it, and a note says so")
  func goesBack() throws {
    let blocks = [0, 40, 80, 60, 160, 200].flatMap { (time: Int16) in
      W.block(track: 1, at: time, time == 0 ? W.keyframe() : W.interframe)
    }
    let file = try open(file(tracks: W.tracks(W.video()), blocks))
    #expect(try file.ticks(.video) == [0, 3_600, 7_200, 7_201, 14_400, 18_000])
    #expect(
      file.notes == [
        "The times of 1 of 6 video frames are before that of the previous one; they are shown directly after it."
      ])
    #expect(file.track(.video)?.skippedFrames == 0)
  }

  @Test("a note recommends encoding where keyframes are more than 10 s apart, also before the end")
  func rareKeyframes() throws {
    func notes(keyframes: Set<Int16>, end: Int16) throws -> [String] {
      let blocks = stride(from: Int16(0), through: end, by: 500).flatMap { (time: Int16) in
        W.block(track: 1, at: time, keyframes.contains(time) ? W.keyframe() : W.interframe)
      }
      return try open(file(tracks: W.tracks(W.video()), blocks)).notes
    }
    #expect(try notes(keyframes: [0, 9_500, 19_500], end: 29_000).isEmpty)
    for (keyframes, end, seconds) in [
      ([0], 15_500, "16.00"), ([0, 12_000], 13_000, "12.00"), ([0, 4_000], 15_500, "12.00"),
    ]
      as [(Set<Int16>, Int16, String)]
    {
      let found = try notes(keyframes: keyframes, end: end)
      #expect(found.count == 1)
      #expect(found.first?.hasPrefix("Its keyframes are up to \(seconds) s apart: ") == true)
      #expect(found.first?.contains("--live") == true)
    }
  }

  @Test("times most of which go back, are too dense or are implausible are refused")
  func times() throws {
    let back = (0..<10).flatMap { W.block(track: 1, at: Int16(400 - 40 * $0), W.keyframe()) }
    #expect(
      try rejection(file(tracks: W.tracks(W.video()), back))
        == "cannot be played: the times of 9 of its 10 video frames go back.")

    let dense = (0..<2000).flatMap { W.block(track: 1, at: Int16($0 / 2), W.keyframe()) }
    #expect(
      try rejection(file(tracks: W.tracks(W.video()), dense))
        == "cannot be played: its video has more than 1000 frames a second.")

    let audio = (0..<100).flatMap { _ in W.block(track: 2, at: 0, W.opus20ms) }
    #expect(
      try rejection(file(tracks: W.tracks(W.audio()), audio))
        == "cannot be played: 96 of its 100 audio frames cannot be played.")

    let far = W.cluster(at: 2 * 3600 * 1000, W.block(track: 1, at: 0, W.keyframe()))
    let near = W.cluster(at: 0, W.block(track: 1, at: 0, W.keyframe()))
    #expect(
      try rejection(W.header() + W.segment(W.info(), W.tracks(W.video()), near, far))
        == "cannot be played: it has a gap of 7200.00 s, and an hour is the maximum.")

    for scale in [UInt64(0), 1 << 50, .max] {
      let block = W.block(track: 1, at: 9, W.keyframe())
      let bytes = W.header() + W.segment(W.info(timecodeScale: scale), W.tracks(W.video()), W.cluster(at: 9, block))
      #expect(try rejection(bytes)?.hasSuffix("a frame's time is beyond 100 h.") == true)
    }
    let late = W.cluster(at: 1 << 54, W.block(track: 1, at: 0, W.keyframe()))
    #expect(
      try rejection(W.header() + W.segment(W.info(), W.tracks(W.video()), late))?
        .hasSuffix("a cluster has no time, or an implausible one.") == true)
  }

  @Test("a thousand damaged files are played or refused, and never crash")
  func wrongBytes() throws {
    var random = SeededGenerator(seed: 3)
    let sample = Array(try Sample.bytes().prefix(24_000))
    var refused = 0
    for _ in 0..<1000 {
      var bytes = sample
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let limit = Bool.random(using: &random) ? 800 : bytes.count
        bytes[Int.random(in: 0..<limit, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      if try rejection(bytes) != nil { refused += 1 }
    }
    #expect(refused > 100 && refused < 1000)
  }
}
