import Codecs
import Foundation
import Media
import MediaWorker
import NIOCore
import TestSupport
import Testing

@Suite("Broken streams of H.264")
struct BrokenStreamTests {
  @Test("whichever byte of a keyframe is broken, the worker goes on and decodes another stream as before")
  func everyByte() throws {
    let stream = try H264Stream.make(
      size: "64x48", seconds: 0.3,
      ["-c:v", "libx264", "-profile:v", "main", "-bf", "0", "-g", "5", "-bsf:v", "filter_units=remove_types=6"])
    let worker = MediaWorker()
    let decoder = try VideoDecoder(.h264, in: worker)
    let keyframe = stream.frames[0]
    var refused = 0
    let start = ContinuousClock.now
    for index in 0..<keyframe.readableBytes {
      for mask: UInt8 in [0xFF, 0x01, 0x80] {
        var broken = keyframe
        let byte = broken.getInteger(at: index, as: UInt8.self) ?? 0
        broken.setInteger(byte ^ mask, at: index)
        do throws(CodecError) { _ = try decoder.decode(broken) { $0.brightness } } catch { refused += 1 }
        do throws(CodecError) { _ = try decoder.decode(stream.frames[1]) { $0.brightness } } catch { refused += 1 }
      }
    }
    print("broken keyframe of \(keyframe.readableBytes) bytes: \(refused) refused, in \(ContinuousClock.now - start)")
    #expect(worker.crashes == 0)
    // Half of the broken bytes are found, at least.
    #expect(refused > keyframe.readableBytes * 3 / 2)
    var decoded = Data()
    let another = try VideoDecoder(.h264, in: worker)
    for frame in stream.frames {
      try another.decode(frame) { decoded.append(contentsOf: $0.copy.luma + $0.copy.blue + $0.copy.red) }
    }
    #expect(decoded == stream.decoded)
  }

  @Test("supplemental information that is broken damages no frame")
  func supplemental() throws {
    let stream = try H264Stream.make(size: "64x48", seconds: 0.3, ["-c:v", "libx264", "-bf", "0", "-g", "5"])
    // User data of 200 bytes of which 20 are there, and a buffering period of a parameter set that does not exist.
    let units: [[UInt8]] = [
      [0x06, 5, 200] + [UInt8](repeating: 7, count: 20) + [0x80], [0x06, 0, 2, 0b0001_1001, 0x80, 0x80, 0x80],
    ]
    let decoder = try VideoDecoder(.h264, in: MediaWorker())
    var (decoded, byteStream) = (Data(), Data())
    for (index, frame) in stream.frames.enumerated() {
      let unit = units[index % units.count]
      var changed = ByteBuffer()
      changed.writeInteger(UInt32(unit.count))
      changed.writeBytes(unit)
      changed.writeImmutableBuffer(frame)
      try decoder.decode(changed) { decoded.append(contentsOf: $0.copy.luma + $0.copy.blue + $0.copy.red) }
      var rest = changed
      while let length = rest.readInteger(as: UInt32.self), let bytes = rest.readBytes(length: Int(length)) {
        byteStream.append(contentsOf: [0, 0, 0, 1] + bytes)
      }
    }
    #expect(decoded == stream.decoded)
    // ffmpeg says that they are broken.
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try byteStream.write(to: URL(fileURLWithPath: path))
    let result = try ExternalTool.run("ffmpeg", ["-v", "error", "-f", "h264", "-i", path, "-f", "null", "-"])
    #expect(result.errors.contains("truncated at") && result.errors.contains("referenced in buffering period"))
  }

  @Test("a frame whose parameter sets state more than 4096x4096 is refused")
  func tooLarge() throws {
    let stream = try H264Stream.make(size: "4112x32", seconds: 0.1, ["-c:v", "libx264", "-bf", "0"])
    let decoder = try VideoDecoder(.h264, in: MediaWorker())
    let error = try #require(throws: CodecError.self) { try decoder.decode(stream.frames[0]) }
    #expect(!error.isUnavailable, "\(error)")
    let small = try H264Stream.make(size: "64x48", seconds: 0.1, ["-c:v", "libx264", "-bf", "0"])
    #expect(try decoder.decode(small.frames[0]) == VideoSize(width: 64, height: 48))
  }

  @Test("the size changes in mid-stream")
  func sizes() throws {
    let decoder = try VideoDecoder(.h264, in: MediaWorker())
    for size in ["64x48", "640x360", "322x182", "64x48"] {
      let stream = try H264Stream.make(size: size, seconds: 0.2, ["-c:v", "libx264", "-bf", "0"])
      for frame in stream.frames {
        #expect(try decoder.decode(frame)?.description == size)
      }
    }
  }
}
