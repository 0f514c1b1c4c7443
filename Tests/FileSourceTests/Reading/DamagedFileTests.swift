import FileSource
import Media
import TestSupport
import Testing

/// Files that are damaged in the middle, as a composition reads them.
@Suite("damaged files")
struct DamagedFileTests {
  typealias W = WebMBuilder

  let folder: ScratchFolder

  init() throws {
    folder = try ScratchFolder()
  }

  /// Returns what is left of a file, and the times of its frames in milliseconds.
  private func read(
    _ bytes: [UInt8], _ kind: MediaKind = .video, continuesAfterDamage: Bool = true
  ) throws -> (file: StoredFile, times: [Int64], follow: [Int64]) {
    let file = try StoredFile(
      opening: folder.write(bytes, as: "a.webm"), accepting: Set(Codec.allCases), kinds: [kind],
      continuesAfterDamage: continuesAfterDamage)
    guard let track = file.track(kind) else { return (file, [], []) }
    let reader = try file.reader(of: track)
    var (times, follow): ([Int64], [Int64]) = ([], [])
    let millisecond = Int64(MediaTimebase.rate / 1_000)
    while let frame = try reader.next() {
      times.append((file.origin + frame.time + millisecond / 2) / millisecond)
      if frame.followsDamage { follow.append(times[times.count - 1]) }
    }
    return (file, times, follow)
  }

  /// Clusters of 100 ms, each with a keyframe and two other frames, apart from the third one, which has no keyframe.
  private static let clusters: [[UInt8]] = (0..<5).map { number -> [UInt8] in
    W.cluster(
      at: UInt64(number * 100), W.block(track: 1, at: 0, number == 2 ? W.interframe : W.keyframe()),
      W.block(track: 2, at: 0, W.opus20ms), W.block(track: 1, at: 33, W.interframe),
      W.block(track: 1, at: 66, W.interframe))
  }
  private static let beginning =
    W.header() + W.segment(W.info(), W.tracks(W.video(), W.audio()), clusters.flatMap(\.self))
  private static var headerBytes: Int { beginning.count - clusters.reduce(0) { $0 + $1.count } }
  private static let all: [Int64] = [0, 33, 66, 100, 133, 166, 200, 233, 266, 300, 333, 366, 400, 433, 466]

  /// Overwrites a part of the second cluster with bytes.
  private static func damaged(_ value: UInt8, from start: Int, count: Int) -> [UInt8] {
    var bytes = beginning
    let begin = headerBytes + clusters[0].count + start
    for index in begin..<begin + count { bytes[index] = value }
    return bytes
  }

  @Test(
    "frames before the damage and from the next keyframe on are read",
    arguments: [0x00, 0x55, 0xA3, 0xFF] as [UInt8])
  func continues(_ value: UInt8) throws {
    let bytes = Self.damaged(value, from: 50, count: 12)
    let (file, times, follow) = try read(bytes)
    #expect(times.starts(with: [0, 33]))
    #expect(times.suffix(6) == [300, 333, 366, 400, 433, 466], "the third cluster has no keyframe: \(times)")
    #expect(!times.contains(200))
    #expect(follow == [300])
    #expect(file.damages.count == 1 && (file.damages.first?.description.contains("left out") ?? false))
    #expect(throws: MediaFile.ReadError.self, "what is played must be whole") {
      try read(bytes, continuesAfterDamage: false)
    }
  }

  @Test("a damaged cluster's header costs the cluster")
  func clusterHeader() throws {
    let (file, times, _) = try read(Self.damaged(0x55, from: 0, count: 20))
    #expect(times.starts(with: [0, 33]) && times.suffix(6).first == 300 && file.damages.count == 1)
    let (_, sound, _) = try read(Self.damaged(0x55, from: 0, count: 20), .audio)
    #expect(sound.suffix(3) == [200, 300, 400], "sound needs no keyframe: \(sound)")
  }

  @Test("a file whose end is damaged has what is before, and an undamaged one has all")
  func end() throws {
    let whole = try read(Self.beginning)
    #expect(whole.times == Self.all && whole.file.damages.isEmpty && whole.follow.isEmpty)
    var bytes = Self.beginning
    for index in bytes.count - 50..<bytes.count { bytes[index] = 0x55 }
    let (file, times, _) = try read(bytes)
    #expect(times.starts(with: [0, 33, 66, 100, 133, 166]) && times.count < 15)
    #expect(file.damages.last?.range.upperBound == UInt64(bytes.count))
  }

  @Test("damage at random places never costs more than the clusters that it is in and those without a keyframe")
  func random() throws {
    var generator = SeededGenerator(seed: 38)
    for _ in 0..<300 {
      var bytes = Self.beginning
      let first = Int.random(in: Self.headerBytes..<bytes.count - 20, using: &generator)
      for index in first..<first + Int.random(in: 1...20, using: &generator) {
        bytes[index] = UInt8.random(in: 0...255, using: &generator)
      }
      do {
        let (file, times, _) = try read(bytes)
        #expect(file.damages.count <= 3 && times.count >= 5, "from \(first): \(times), \(file.damages)")
      } catch {
        Issue.record("from \(first): \(error) \(bytes[first..<first + 24])")
      }
    }
  }

  @Test("a file that cannot be read at all is refused with its reason")
  func header() throws {
    var bytes = Self.beginning
    for index in 8..<60 { bytes[index] = 0x55 }
    #expect(throws: MediaFile.ReadError.self) { try read(bytes) }
  }

  @Test("an Ogg file has the pages before and after damaged ones, at their times")
  func ogg() throws {
    var ogg = OggBuilder()
    let headers = ogg.headers()
    var pages = (1...6).map { ogg.page([W.opus20ms, W.opus20ms], granule: Int64($0 * 1_920)) }
    for index in 4..<12 { pages[2][index] = 0x55 }
    pages[3][30] ^= 0xFF
    let (file, times, follow) = try read(headers + pages.flatMap(\.self), .audio)
    #expect(times == [0, 20, 40, 60, 160, 180, 200, 220])
    #expect(follow == [160] && file.damages.count == 1)
    #expect(throws: MediaFile.ReadError.self) {
      try read(headers + pages.flatMap(\.self), .audio, continuesAfterDamage: false)
    }
  }
}
