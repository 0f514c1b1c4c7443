import FileSource
import Media
import NIOCore
import TestSupport
import Testing

@Suite("IVF")
struct IVFReadingTests {
  let folder: ScratchFolder

  init() throws {
    folder = try ScratchFolder()
  }

  static func number(_ value: UInt64, bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  static func header(
    _ codec: String = "VP80", rate: UInt32 = 30, scale: UInt32 = 1, size: UInt16 = 32, frames: UInt32 = 0
  ) -> [UInt8] {
    Array("DKIF".utf8) + [0, 0] + number(UInt64(size), bytes: 2) + Array(codec.utf8) + [64, 0, 48, 0]
      + number(UInt64(rate), bytes: 4) + number(UInt64(scale), bytes: 4) + number(UInt64(frames), bytes: 4) + [
        0, 0, 0, 0,
      ]
  }

  static func frame(_ time: Int64, _ payload: [UInt8], claiming size: Int? = nil) -> [UInt8] {
    number(UInt64(size ?? payload.count), bytes: 4) + number(UInt64(bitPattern: time), bytes: 8) + payload
  }

  func open(_ bytes: [UInt8]) throws -> MediaFile { try MediaFile(opening: folder.write(bytes, as: "a.ivf")) }

  func rejection(_ bytes: [UInt8]) throws -> String? { MediaFile.rejection(try folder.write(bytes, as: "a.ivf")) }

  @Test("a file written by ffmpeg is read byte for byte, with evenly spaced frames")
  func ffmpeg() throws {
    let path = folder.path("a.ivf")
    try Sample.make(path, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=30000/1001:d=1", "-c:v", "libvpx", "-g", "10")
    let file = try MediaFile(opening: path)
    #expect(file.format == .ivf)
    let track = try #require(file.track(.video))
    #expect(track.description == "VP8 64x48, 30 frames in 1.00 s")
    let ticks = try file.ticks(.video)
    #expect(ticks == (0..<30).map { $0 * 3_003 })
    #expect(file.duration == .nanoseconds(1_001_000_000))

    // The same frames in WebM, written by another program.
    let copy = folder.path("a.webm")
    try Sample.make(copy, "-i", path, "-c", "copy")
    let isEqual = try file.frames(.video).map(\.payload) == MediaFile(opening: copy).frames(.video).map(\.payload)
    #expect(isEqual)
  }

  @Test("a thousand rounds have no drift")
  func loops() throws {
    let file = try open(
      Self.header(rate: 30_000, scale: 1_001)
        + (0..<3).flatMap { Self.frame($0, $0 == 0 ? WebMBuilder.keyframe() : WebMBuilder.interframe) })
    var player = PacedPlayer(codecs: [.vp8], period: file.period, loops: true, owner: ParticipantID("me"))
    let frames = try file.frames(.video)
    let start = ContinuousClock.now
    player.begin(now: start)
    var times: [Int64] = []
    while times.count < 3_000 {
      while player.wants(.video) {
        player.append(frames, of: .video)
        player.roundEnded(.video)
      }
      let now = try #require(player.deadline)
      times += player.poll(now: now).map(\.time.ticks)
    }
    let areEven = times.enumerated().allSatisfy { $1 == Int64($0 / 3) * 9_015 + Int64($0 % 3) * 3_003 }
    // A round is extended by less than a sixth of a millisecond, to a whole number of both clocks' ticks.
    #expect(file.period == 72_120 && areEven)
  }

  @Test("a file truncated anywhere is played up to the last whole frame, or refused")
  func truncated() throws {
    let whole = Self.header() + (0..<3).flatMap { Self.frame($0, WebMBuilder.keyframe()) }
    for length in 0..<whole.count {
      guard let file = try? open(Array(whole.prefix(length))) else { continue }
      let count = try file.frames(.video).count
      #expect(
        count < 3
          && file.notes == (length == 32 + 24 * count ? [] : ["It is truncated; the whole frames are played."]))
    }
    #expect(
      try rejection(Array(whole.prefix(20)))
        == "cannot be played: at byte 0 its IVF header is cut off: it needs 32 bytes, and the file has 20.")
  }

  @Test("files that cannot be played are refused with a sentence")
  func refused() throws {
    let good = Self.frame(0, WebMBuilder.keyframe())
    func sentence(_ bytes: [UInt8]) throws -> String? {
      try rejection(bytes)?.replacing("cannot be played: ", with: "")
    }
    #expect(try sentence(Self.header("VP90") + good) == "its video is VP9, and only VP8 is played.")
    #expect(try sentence(Self.header("AV01") + good) == "its video is AV1, and only VP8 is played.")
    #expect(try sentence(Self.header("XXXX") + good) == "its IVF header names none of VP8, VP9, AV1.")
    #expect(
      try sentence(Self.header(rate: 0) + good) == "its IVF header states a rate of 0/1 frames a second.")
    #expect(
      try sentence(Self.header(scale: 0) + good) == "its IVF header states a rate of 30/0 frames a second.")
    #expect(try sentence(Self.header(size: 8) + good) == "at byte 6 its IVF header says that it is 8 bytes long.")
    #expect(try sentence(Self.header()) == "no frame of its tracks can be played.")
    #expect(
      try sentence(Self.header() + Self.frame(0, [1, 2, 3], claiming: 0xffff_ffff))
        == "at byte 32 a frame claims 4294967295 bytes, and 4194304 are the maximum.")
    for time in [Int64.max, .min, 1 << 62] {
      #expect(
        try sentence(Self.header() + Self.frame(time, WebMBuilder.keyframe()))
          == "at byte 32 a frame's time is beyond 100 h.")
    }
  }

  @Test("a frame whose time is before that of the previous one is shown directly after it")
  func goesBack() throws {
    let times: [Int64] = [0, 1, -9, 3]
    let file = try open(
      Self.header() + times.flatMap { Self.frame($0, $0 == 0 ? WebMBuilder.keyframe() : WebMBuilder.interframe) })
    #expect(try file.ticks(.video) == [0, 3_000, 3_001, 9_000])
    #expect(file.notes.count == 1)
  }

  @Test("a thousand damaged files are played or refused, and never crash")
  func fuzz() throws {
    let good = Self.header() + (0..<5).flatMap { Self.frame($0, WebMBuilder.keyframe()) }
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<1_000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      guard let file = try? open(bytes) else { continue }
      _ = try? file.frames(.video)
    }
  }
}
