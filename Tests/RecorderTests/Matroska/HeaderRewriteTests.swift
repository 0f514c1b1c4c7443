import CWebM
import Foundation
import Glibc
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

/// A header is written again and again while the file grows, and the program can be killed after any byte of that.
@Suite("A header that is rewritten")
struct HeaderRewriteTests {
  /// A file whose header changes.
  enum Case: CaseIterable {
    /// As recordings of VP8 and Opus are: video first, audio later, a larger size, the end.
    case webM
    /// H.264 of which the parameter sets come after the header was written, 2 KiB of them.
    case lateVideo
    /// H.264 whose parameter sets are known, in an entry of more than 126 bytes, and audio later.
    case knownVideo
    /// Entries whose size field is about to need a second byte.
    case boundary(Int)
    case audioAlone

    static var allCases: [Case] {
      [.webM, .lateVideo, .knownVideo, .audioAlone] + (68...84).map(Case.boundary)
    }

    var documentType: MatroskaHeader.DocumentType { if case .webM = self { .webM } else { .matroska } }
    /// The length of the video's private data; nil without any.
    var privateLength: Int? {
      switch self {
      case .webM, .audioAlone: nil
      case .lateVideo: 2_048
      case .knownVideo: 300
      case .boundary(let length): length
      }
    }
  }

  private static let small = VideoSize(width: 640, height: 480)
  private static let large = VideoSize(width: 1_920, height: 1_088)

  private func video(_ test: Case, _ size: VideoSize) -> MatroskaHeader.Video {
    MatroskaHeader.Video(
      codec: test.documentType == .webM ? .vp8 : .h264, size: size,
      codecPrivate: test.privateLength.map { ByteBuffer(repeating: 0x5A, count: $0) })
  }

  private func block(_ kind: MediaKind, _ milliseconds: Int64) -> MatroskaBlock {
    MatroskaBlock(
      kind: kind, time: .milliseconds(milliseconds), duration: kind == .audio ? .milliseconds(20) : nil,
      isKeyframe: true,
      isShown: true, payload: ByteBuffer(repeating: 7, count: 50))
  }

  /// All writes of a file, in order.
  private func writes(_ test: Case) -> [FileWrite] {
    let audioCodec: Codec = test.documentType == .webM ? .opus : .pcmu
    let audio = MatroskaHeader.Audio(codec: audioCodec, channels: 1)
    var isLate = false
    if case .lateVideo = test { isLate = true }
    var isAlone = false
    if case .audioAlone = test { isAlone = true }
    var writer = MatroskaWriter(test.documentType, video: nil, audio: nil, isAudioOnly: isAlone, date: 1)
    if isLate || isAlone {
      _ = writer.declare(audio: audio)
      _ = writer.add(block(.audio, 0))
    } else {
      _ = writer.declare(video: video(test, Self.small))
      _ = writer.add(block(.video, 0))
    }
    let cluster = writer.endCluster()
    var writes = writer.start() + cluster
    if isLate { writes += writer.declare(video: video(test, Self.small)) }
    if !isLate, !isAlone { writes += writer.declare(audio: audio) }
    if !isAlone { writes += writer.declare(video: video(test, Self.large)) + writer.add(block(.video, 40)) }
    writes += writer.add(block(.audio, 60)) + writer.endCluster()
    writes += writer.declare(audio: MatroskaHeader.Audio(codec: audioCodec, channels: 2))
    writes += writer.add(block(.audio, 80)) + writer.finish()
    return writes
  }

  @Test("after each byte of each rewrite it can be read, and no description is read in part", arguments: Case.allCases)
  func everyByte(test: Case) throws {
    let file = try Self.scratch()
    defer { close(file) }
    let folder = TestFolder()
    let target = MemoryFile([])
    var torn = 0
    var checked: [String: [UInt8]] = [:]
    for (number, write) in writes(test).enumerated() {
      let old = target.bytes
      let new = Array(write.bytes.readableBytesView)
      if write.offset == 0, !old.isEmpty {
        let differing = new.indices.filter { new[$0] != old[$0] }
        #expect(new.count <= old.count)
        for count in differing.map({ $0 + 1 }) + [0] {
          let bytes = Array(new[..<count]) + Array(old[count...])
          torn += 1
          try expectReadable(bytes, test, in: file, "write \(number) after \(count) bytes")
          if torn % 41 == 1 { checked["\(number)-\(count).mkv"] = bytes }
        }
      }
      try target.write(write)
    }
    #expect(torn > 10)
    try folder.store(checked)
    for name in folder.names {
      let result = try ExternalTool.run("mkvinfo", ["\(folder.path)/\(name)"])
      #expect(result.status == 0 && result.output.contains("+ Tracks"), "\(name): \(result.output)")
    }
  }

  private func expectReadable(_ bytes: [UInt8], _ test: Case, in file: Int32, _ what: String) throws {
    let buffer = ByteBuffer(bytes: bytes)
    let found = try #require(MatroskaHeader.find(in: buffer), "\(what)")
    let isAtCluster = EBMLElementHeader(parsing: try #require(buffer.getSlice(at: Int(found.length), length: 12)))
    #expect(isAtCluster?.is(.cluster) == true, "\(what)")
    // As libwebm reads it.
    try #require(ftruncate(file, 0) == 0 && pwrite(file, bytes, bytes.count, 0) == bytes.count)
    let reader = try #require(cwebm_open(file, UInt64(bytes.count)))
    defer { cwebm_close(reader) }
    cwebm_select(reader, UInt64(MatroskaHeader.videoNumber))
    cwebm_select(reader, UInt64(MatroskaHeader.audioNumber))
    #expect(cwebm_next(reader) == CWEBM_EVENT_HEADER, "\(what)")
    for index in 0..<cwebm_track_count(reader) {
      let track = cwebm_track_at(reader, index)
      let id = String(cString: track.codec_id)
      #expect(["V_VP8", "V_MPEG4/ISO/AVC", "A_OPUS", "A_MS/ACM"].contains(id), "\(what): \(id)")
      let data = Array(UnsafeBufferPointer(start: track.codec_private, count: track.codec_private_size))
      if id == "V_MPEG4/ISO/AVC" {
        let isWhole = data == [UInt8](repeating: 0x5A, count: test.privateLength ?? 0)
        #expect(isWhole, "\(what): \(data.count) bytes")
        #expect(track.pixel_width >= 640 && track.pixel_height >= 480, "\(what)")
      }
      if id == "A_MS/ACM" { #expect(data.prefix(2) == [7, 0], "\(what)") }
    }
  }

  @Test("a file of VP8 and Opus has a header of 512 bytes, and one with known parameter sets no more than they need")
  func lengths() throws {
    func length(_ test: Case) -> Int? { writes(test).first?.bytes.readableBytes }
    #expect(length(.webM) == 512 && length(.audioAlone) == 512)
    #expect(length(.boundary(68)) == 512)
    let known = try #require(length(.knownVideo))
    #expect((600...800).contains(known))
    let late = try #require(length(.lateVideo))
    #expect(late > 2_048 && late <= 4_096)
  }

  private static func scratch() throws -> Int32 {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(file >= 0)
    unlink(path)
    return file
  }
}
