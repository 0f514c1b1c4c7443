import Foundation
import NIOCore
import Recorder
import TestSupport
import Testing

/// Files that are damaged at random, by seed: a repair never traps, loops or makes them worse.
@Suite("Repair of damaged files", .timeLimit(.minutes(2)))
struct RepairFuzzTests {
  /// Repairs a file and expects what must hold for any bytes.
  @discardableResult
  private func expectInvariants(_ bytes: [UInt8], _ what: Comment) throws -> MemoryFile {
    let file = MemoryFile(bytes)
    let isComplete = try file.repair()
    #expect(file.reads <= 4 * bytes.count + 50_000, what)
    let grown = file.bytes.count - bytes.count
    // Cues are at most as long as the blocks that they refer to.
    #expect(grown <= 64 + 2 * bytes.count, what)
    guard isComplete else {
      let isSame = file.bytes == bytes
      #expect(isSame, what)
      return file
    }
    let again = MemoryFile(file.bytes)
    let finding = try again.examine()
    var isFinished = false
    if case .intact = finding { isFinished = true }
    #expect(isFinished, what)
    return file
  }

  /// Expects ffprobe to read after the repair what it read before.
  private func expectReadable(_ before: [UInt8], _ after: [UInt8], in folder: TestFolder, _ what: Comment) throws {
    try folder.store(["before": before, "after": after])
    func packets(_ name: String) throws -> Int? {
      let result = try ExternalTool.run(
        "ffprobe",
        [
          "-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0",
          "\(folder.path)/\(name)",
        ])
      guard result.status == 0 else { return nil }
      return result.output.split(separator: "\n").compactMap { Int($0.filter(\.isNumber)) }.reduce(0, +)
    }
    guard let old = try packets("before"), old > 0 else { return }
    let new = try packets("after") ?? -1
    // A truncated frame is not kept.
    #expect(new >= old - 2, "\(what): \(old) packets before, \(new) after")
  }

  @Test(
    "a file truncated anywhere is completed, or not changed if its header is incomplete",
    arguments: ["anna.webm", "anna.ogg", "anna.mkv", "anna.mka"])
  func truncated(name: String) async throws {
    let bytes = try await Unfinished.file(name)
    let folder = TestFolder()
    var generator = SeededGenerator(seed: 11)
    for round in 0..<120 {
      let count = Int.random(in: 0...bytes.count, using: &generator)
      let what: Comment = "\(name) truncated after \(count) bytes"
      let cut = Array(bytes.prefix(count))
      let file = try expectInvariants(cut, what)
      if round.isMultiple(of: 30) { try expectReadable(cut, file.bytes, in: folder, what) }
    }
  }

  @Test(
    "a flipped byte in the middle costs nothing after it", arguments: ["anna.webm", "anna.ogg", "anna.mkv", "anna.mka"])
  func flipped(name: String) async throws {
    let bytes = try await Unfinished.file(name)
    let folder = TestFolder()
    var generator = SeededGenerator(seed: 12)
    for round in 0..<120 {
      var flipped = bytes
      let position = Int.random(in: 700..<(bytes.count / 2), using: &generator)
      flipped[position] ^= UInt8.random(in: 1...255, using: &generator)
      let what: Comment = "\(name), byte \(position) is \(flipped[position])"
      let file = try expectInvariants(flipped, what)
      #expect(file.bytes.count >= bytes.count, what)
      if round.isMultiple(of: 30) { try expectReadable(flipped, file.bytes, in: folder, what) }
    }
  }

  @Test(
    "flipped bytes, even in the header, and moved parts do no harm",
    arguments: ["anna.webm", "anna.ogg", "anna.mkv", "anna.mka"])
  func shuffled(name: String) async throws {
    let bytes = try await Unfinished.file(name, after: 2)
    var generator = SeededGenerator(seed: 13)
    for round in 0..<120 {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...40, using: &generator) {
        damaged[.random(in: 0..<damaged.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      if round.isMultiple(of: 3) {
        let start = Int.random(in: 0..<damaged.count, using: &generator)
        let piece = damaged[start..<min(damaged.count, start + .random(in: 0...5_000, using: &generator))]
        damaged.insert(contentsOf: piece, at: .random(in: 0...damaged.count, using: &generator))
      }
      try expectInvariants(damaged, "\(name), round \(round)")
    }
  }

  @Test("random bytes after a valid header do no harm")
  func random() async throws {
    let files = try await Unfinished.files(after: 2)
    var generator = SeededGenerator(seed: 14)
    for (name, bytes) in files where !name.hasSuffix("json") {
      for round in 0..<60 {
        let kept = Int.random(in: 4...700, using: &generator)
        let rest = (0..<Int.random(in: 0...20_000, using: &generator)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
        try expectInvariants(bytes.prefix(kept) + rest, "\(name), round \(round)")
      }
    }
  }

  @Test("absurd and unknown sizes, and endlessly nested headers, do no harm")
  func absurd() async throws {
    let webM = try #require(try await Unfinished.files(after: 2)["anna.webm"])
    let head = Array(webM.prefix(Int(MatroskaHeader.length)))
    let cluster: [UInt8] = [0x1F, 0x43, 0xB6, 0x75]
    let sizes: [[UInt8]] = [
      [0xFF], [0x01] + [UInt8](repeating: 0xFF, count: 7), [0x01] + [UInt8](repeating: 0xFF, count: 6) + [0xFE], [0x80],
      [0],
      [0x81], [0x08, 0xFF, 0xFF, 0xFF, 0xFF],
    ]
    let stamps: [[UInt8]] = [
      [0xE7, 0x81, 0], [0xE7, 0x88] + [UInt8](repeating: 0xFF, count: 8), [0xE7, 0x80], [0xE7, 0xFF], [],
    ]
    for size in sizes {
      for stamp in stamps {
        for block in [[], [0xA3] + size, [0xA3, 0x85, 0x81, 0x80, 0, 0x80, 0x10]] as [[UInt8]] {
          let one = cluster + size + stamp + block
          let many = [[UInt8]](repeating: one, count: 100).flatMap(\.self)
          for body in [one, many, one + webM.dropFirst(head.count)] {
            try expectInvariants(head + body, "cluster \(size), \(stamp), \(block)")
          }
        }
      }
    }
    // Nothing but headers of Ogg pages.
    let ogg = try #require(try await Unfinished.files(after: 2)["anna.ogg"])
    let page =
      Array("OggS".utf8) + [0, 0] + [UInt8](repeating: 0, count: 20) + [255] + [UInt8](repeating: 255, count: 255)
    try expectInvariants(ogg + [[UInt8]](repeating: page, count: 200).flatMap(\.self), "headers of pages")
    try expectInvariants(
      ogg.prefix(120) + [[UInt8]](repeating: Array("OggS".utf8), count: 5_000).flatMap(\.self), "OggS")
  }
}
