import Foundation
import Media
import OptionValues
import Testing

@Suite("values on the command line")
struct OptionValueTests {
  @Test(
    "valid sizes are parsed, and others are rejected",
    arguments: [
      ("640x480", true), ("16x16", true), ("4096X4096", true), ("8x8", false), ("7680x4320", false), ("640", false),
      ("640x", false), ("x480", false), ("640x480x2", false), ("-640x480", false), ("99999999999999999999x2", false),
      ("٣x٣", false),
    ])
  func sizes(text: String, isFine: Bool) {
    #expect(((try? FrameSize(text)) != nil) == isFine)
  }

  @Test(
    "valid frame rates are parsed, and others are rejected",
    arguments: [
      ("30", 30), ("29.97", 29.97), ("30000/1001", 30_000.0 / 1_001), ("0.5", 0.5), ("0", nil), ("30/0", nil),
      ("-1", nil),
      ("1e3", nil), ("", nil), ("1/2/3", nil), ("nan", nil), ("121", nil),
    ] as [(String, Double?)])
  func rates(text: String, rate: Double?) {
    #expect((try? FrameRate(text))?.framesPerSecond == rate)
  }

  @Test(
    "valid bitrates are parsed, and others are rejected",
    arguments: [
      ("300k", 300_000), ("2M", 2_000_000), ("2.5m", 2_500_000), ("800000", 800_000), ("1Mbit/s", 1_000_000),
      ("500kbps", 500_000), ("50M", 50_000_000), ("49k", nil), ("51M", nil), ("", nil), ("k", nil), ("-2M", nil),
      ("2G", nil),
      ("1.2.3M", nil),
    ] as [(String, Int?)])
  func bitrates(text: String, bits: Int?) {
    #expect((try? Bitrate(text))?.bitsPerSecond == bits)
  }

  @Test(
    "valid sizes of a log file are parsed, and others are rejected",
    arguments: [
      ("10kB", 10_000), ("500kB", 500_000), ("10MB", 10_000_000), ("1000GB", 1_000_000_000_000), ("9kB", nil),
      ("1001GB", nil), ("10000", nil), ("", nil), ("-1MB", nil),
    ] as [(String, Int64?)])
  func logSizes(text: String, bytes: Int64?) {
    #expect((try? LogSize(text))?.bytes == bytes)
  }

  @Test("a text of a file is read if it is UTF-8 and not too long")
  func texts() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("text-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data("grün".utf8).write(to: file)
    #expect(try BoundedFile.text(file.path, longest: 5) == "grün")
    let long = #expect(throws: BoundedFile.ReadError.self) { try BoundedFile.text(file.path, longest: 4) }
    #expect(long?.sentence == "\(file.path) cannot be read: it has more than 4 bytes.")
    try Data([0x67, 0xFF]).write(to: file)
    let other = #expect(throws: BoundedFile.ReadError.self) { try BoundedFile.text(file.path, longest: 5) }
    #expect(other?.sentence == "\(file.path) is not UTF-8 text.")
  }

  @Test("a printed bitrate can be parsed again")
  func roundTrip() throws {
    for bits in [50_000, 300_000, 2_500_000, 2_000_000, 1_234_567] {
      let bitrate = Bitrate(bitsPerSecond: bits)
      #expect(try Bitrate("\(bitrate)") == bitrate)
    }
  }

  @Test("a secret comes from a file with one word, and its error does not contain it")
  func secrets() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(" s3cret\n".utf8).write(to: file)
    let secret = SecretFile(path: file.path, variable: "CHATBOT_NO_SUCH_VARIABLE")
    #expect(try secret.read() == "s3cret")
    try Data("s3cret and more".utf8).write(to: file)
    let error = #expect(throws: BoundedFile.ReadError.self) { try secret.read() }
    #expect(error?.sentence.contains("s3cret") == false && error?.sentence.contains("one word") == true)
    #expect(try SecretFile(path: nil, variable: "CHATBOT_NO_SUCH_VARIABLE").read() == nil)
    #expect(throws: BoundedFile.ReadError.self) { try SecretFile(path: file.path + "-missing", variable: "X").read() }
  }

  @Test("a codec of another kind is rejected with those that are supported")
  func codecs() {
    let error = #expect(throws: CodecList.ParseError.self) { try CodecList.parse("opus", of: .video) }
    #expect(error?.description == "“opus” is not a supported video codec; these are: vp8,h264,vp9,av1,h265.")
    let other = #expect(throws: CodecList.ParseError.self) { try CodecList.parse("opus,g729", of: .audio) }
    #expect(other?.description == "“g729” is not a supported audio codec; these are: opus,g722,pcmu,pcma.")
    #expect(throws: CodecList.ParseError.self) { try CodecList.parse("", of: .video) }
    let parsed = try? CodecList.parse("H264,vp8,h264", of: .video)
    #expect(parsed == [.h264, .vp8])
  }

  @Test("the size of a file needs no unit, but must be a size")
  func fileSizes() throws {
    #expect(try ByteSize.parseFileSize("500kB").bytes == 500_000)
    #expect(try ByteSize.parseFileSize("12").bytes == 12)
    #expect(throws: ByteSize.FileSizeError.noSize("0")) { try ByteSize.parseFileSize("0") }
    #expect(throws: ByteSize.FileSizeError.tooLarge("9999999GB")) { try ByteSize.parseFileSize("9999999GB") }
  }
}
