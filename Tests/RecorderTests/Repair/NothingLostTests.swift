import CWebM
import Foundation
import Glibc
import NIOCore
import Recorder
import TestSupport
import Testing

/// Everything that a reader finds in an interrupted recording before the repair, it finds afterwards.
@Suite("A repair loses nothing readable", .timeLimit(.minutes(10)))
struct NothingLostTests {
  /// The number of damaged files to try; `CHATBOT_REPAIR_MUTATIONS` can raise it.
  private static let count = ProcessInfo.processInfo.environment["CHATBOT_REPAIR_MUTATIONS"].flatMap(Int.init) ?? 4_000

  /// The offsets of all frames that libwebm reads.
  private static func frames(_ bytes: [UInt8], in file: Int32) throws -> Set<UInt64> {
    try #require(ftruncate(file, 0) == 0)
    try #require(pwrite(file, bytes, bytes.count, 0) == bytes.count)
    guard let reader = cwebm_open(file, UInt64(bytes.count)) else { return [] }
    defer { cwebm_close(reader) }
    cwebm_select(reader, UInt64(MatroskaHeader.videoNumber))
    cwebm_select(reader, UInt64(MatroskaHeader.audioNumber))
    var positions: Set<UInt64> = []
    while true {
      switch cwebm_next(reader) {
      case CWEBM_EVENT_HEADER: continue
      case CWEBM_EVENT_FRAME: positions.insert(cwebm_frame_read(reader).position)
      default: return positions
      }
    }
  }

  /// The offset of the last cluster.
  private static func lastCluster(of bytes: [UInt8]) throws -> Int {
    let mark: [UInt8] = [0x1F, 0x43, 0xB6, 0x75]
    return try #require(bytes.indices.dropLast(4).last { bytes[$0] == mark[0] && Array(bytes[$0..<$0 + 4]) == mark })
  }

  /// The offsets of the blocks of the last cluster.
  private static func blocks(of bytes: [UInt8]) throws -> [Int] {
    let cluster = try lastCluster(of: bytes)
    let all = ByteBuffer(bytes: bytes)
    var positions: [Int] = []
    var offset = cluster
    guard
      let head = EBMLElementHeader(parsing: try #require(all.getSlice(at: offset, length: all.readableBytes - offset)))
    else {
      return []
    }
    offset += head.length
    while let rest = all.getSlice(at: offset, length: all.readableBytes - offset),
      let head = EBMLElementHeader(parsing: rest),
      let size = head.size, offset + head.length + Int(size) <= bytes.count
    {
      if head.is(.simpleBlock) { positions.append(offset) }
      offset += head.length + Int(size)
    }
    return positions
  }

  @Test(
    "a reserved flag, a Void element, an empty block or another track's block in the last cluster costs no frame")
  func oddElements() async throws {
    let whole = try #require(try await Unfinished.files(after: 4)["anna.webm"])
    // Cut off in the middle of the last block.
    let blocks = try Self.blocks(of: whole)
    try #require(blocks.count > 8)
    let cut = Array(whole.prefix(blocks[blocks.count - 1] + 6))
    let middle = blocks[blocks.count / 2]
    let file = try Self.scratch()
    defer { close(file) }
    var damaged: [String: [UInt8]] = [:]
    for flag in [0x40, 0x20, 0x10, 0x04, 0x02] as [UInt8] {
      var bytes = cut
      let head = try #require(EBMLElementHeader(parsing: ByteBuffer(bytes: bytes[middle...])))
      bytes[middle + head.length + 3] |= flag
      damaged["flag \(flag)"] = bytes
    }
    let elements: [(String, [UInt8])] = [
      ("Void", [0xEC, 0x83, 0, 0, 0]), ("an empty block", [0xA3, 0x84, 0x81, 0, 0, 0]),
      ("a block too short", [0xA3, 0x81, 0x81]),
      ("another track", [0xA3, 0x86, 0x85, 0, 0, 0, 1, 2]), ("an unknown element", [0x42, 0x99, 0x82, 1, 2]),
      ("CRC-32", [0xBF, 0x84, 1, 2, 3, 4]), ("a group", [0xA0, 0x80]),
    ]
    for (name, element) in elements {
      damaged[name] = Array(cut[..<middle]) + element + Array(cut[middle...])
    }
    for (name, bytes) in damaged {
      let before = try Self.frames(bytes, in: file)
      let target = MemoryFile(bytes)
      #expect(try target.repair(), "\(name)")
      let after = try Self.frames(target.bytes, in: file)
      #expect(before.isSubset(of: after), "\(name): \(before.count) frames before, \(after.count) after")
      #expect(after.count > blocks.count - 4, "\(name)")
    }
  }

  @Test("the last cluster is kept when the size of the one before it is damaged and too large")
  func damagedSize() async throws {
    let whole = try #require(try await Unfinished.files(after: 4)["anna.webm"])
    let last = try Self.lastCluster(of: whole)
    let before = try Self.lastCluster(of: Array(whole[..<last]))
    let head = try #require(EBMLElementHeader(parsing: ByteBuffer(bytes: whole[before...])))
    let size = try #require(head.size)
    try #require(before + head.length + Int(size) == last)
    var bytes = whole
    let wrong = UInt64(size + 100) | 1 << UInt64(7 * head.sizeLength)
    for index in 0..<head.sizeLength {
      bytes[before + head.length - 1 - index] = UInt8(truncatingIfNeeded: wrong >> UInt64(8 * index))
    }
    let target = MemoryFile(bytes)
    #expect(try target.repair())
    let isKept = target.bytes.count > whole.count && Array(target.bytes[last..<whole.count]) == Array(whole[last...])
    #expect(isKept)
  }

  @Test("an Ogg file that was never closed is not changed when another recording follows in it")
  func anotherBehindIt() async throws {
    let first = try #require(try await Unfinished.files(after: 2)["anna.ogg"])
    let second = try #require(try await Unfinished.files(after: 1)["anna.ogg"])
    let target = MemoryFile(first + second)
    #expect(try target.repair() == false)
    #expect(target.steps == 0)
  }

  @Test("unknown elements are not read again for each offset that looks like a cluster")
  func unknownElements() async throws {
    let whole = try #require(try await Unfinished.files(after: 2)["anna.webm"])
    let positions = 300
    let tail: [UInt8] = (0..<3_000).flatMap { _ in [0x82, 0x80] as [UInt8] }
    var bytes = whole
    let length = 19
    for index in 0..<positions {
      let distance = UInt64((positions - 1 - index) * length)
      let size = withUnsafeBytes(of: (distance | 1 << 56).bigEndian) { Array($0) }
      bytes += [0x1F, 0x43, 0xB6, 0x75, 0xFF, 0xE7, 0x81, 0x00, 0xEC, 0x80, 0x82] + size
    }
    let target = MemoryFile(bytes + tail)
    _ = try target.examine()
    print("measured: \(target.reads) reads of a file with \(positions) false clusters")
    #expect(target.reads < 150_000)
  }

  @Test(
    "none of thousands of damaged last clusters has fewer frames after its repair, according to libwebm and ffprobe")
  func damagedLastClusters() async throws {
    let whole = try #require(try await Unfinished.files(after: 2)["anna.webm"])
    let cluster = try Self.lastCluster(of: whole)
    let file = try Self.scratch()
    defer { close(file) }
    let folder = TestFolder()
    var generator = SeededGenerator(seed: 16)
    var repaired = 0
    for round in 0..<Self.count {
      var bytes = Array(whole.prefix(Int.random(in: min(cluster + 40, whole.count)...whole.count, using: &generator)))
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let offset = Int.random(in: cluster..<bytes.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[offset] = .random(in: 0...255, using: &generator)
        case 2: bytes.insert(contentsOf: [0xEC, 0x82, 0, 0], at: offset)
        case 3: bytes.insert(.random(in: 0...255, using: &generator), at: offset)
        case 4: bytes.remove(at: offset)
        default:
          // In the header of a block, where it does most damage.
          guard let block = try Self.blocks(of: bytes).randomElement(using: &generator) else { break }
          let offset = min(bytes.count - 1, block + Int.random(in: 0..<7, using: &generator))
          bytes[offset] = .random(in: 0...255, using: &generator)
        }
      }
      let before = try Self.frames(bytes, in: file)
      let target = MemoryFile(bytes)
      guard try target.repair() else { continue }
      repaired += 1
      let after = try Self.frames(target.bytes, in: file)
      let isSubset = before.isSubset(of: after)
      #expect(isSubset, "round \(round): \(before.subtracting(after).count) of \(before.count) frames are lost")
      if round.isMultiple(of: max(1, Self.count / 40)) {
        let counts = try [bytes, target.bytes].map { try Self.packets($0, in: folder) }
        #expect(counts[1] >= counts[0], "round \(round): ffprobe reads \(counts[0]) packets before, \(counts[1]) after")
      }
    }
    print("measured: \(repaired) of \(Self.count) damaged files were repaired")
    #expect(repaired > Self.count / 2)
  }

  private static func scratch() throws -> Int32 {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(file >= 0)
    unlink(path)
    return file
  }

  /// The number of packets that ffprobe reads.
  private static func packets(_ bytes: [UInt8], in folder: TestFolder) throws -> Int {
    try folder.store(["file.webm": bytes])
    let result = try ExternalTool.run(
      "ffprobe",
      [
        "-v", "quiet", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0",
        "\(folder.path)/file.webm",
      ])
    return result.output.split(separator: "\n").compactMap { Int($0.filter(\.isNumber)) }.reduce(0, +)
  }
}
