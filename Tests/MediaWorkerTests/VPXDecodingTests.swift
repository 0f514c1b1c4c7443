import Codecs
import Media
import MediaWorker
import NIOCore
import Testing

@Suite("VP8 and VP9 in a process of their own")
struct VPXDecodingTests {
  /// What a decoder says of a frame.
  private enum Verdict: Hashable {
    case frame(VideoFrame?)
    case size(VideoSize?)
    case refused(String)
  }

  private static func verdict(_ decoder: VideoDecoder, _ frame: ByteBuffer, isShown: Bool) -> Verdict {
    do throws(CodecError) {
      return isShown ? .frame(try decoder.decode(frame, \.copy)) : .size(try decoder.decode(frame))
    } catch {
      return .refused(error.reason)
    }
  }

  @Test("frames are decoded as in this process", arguments: [Codec.vp8, .vp9], [true, false])
  func pixels(codec: Codec, isShown: Bool) throws {
    let worker = MediaWorker()
    let there = try VideoDecoder(codec, in: worker, prefersWorker: true)
    let here = try VideoDecoder(codec)
    for frame in try VPXFrames.make(codec, count: 30) {
      let verdict = Self.verdict(here, frame, isShown: isShown)
      #expect(Self.verdict(there, frame, isShown: isShown) == verdict)
      if case .refused(let reason) = verdict { Issue.record("\(reason)") }
    }
    #expect(worker.id != nil && worker.crashes == 0)
  }

  @Test("damaged frames are refused as in this process, with the same reasons", arguments: [Codec.vp8, .vp9])
  func damage(codec: Codec) throws {
    let frames = try VPXFrames.make(codec, count: 3)
    let worker = MediaWorker()
    var refused = 0
    for (index, original) in frames.prefix(2).enumerated() {
      for position in 0..<original.readableBytes {
        var flipped = original
        flipped.setInteger((original.getInteger(at: position, as: UInt8.self) ?? 0) ^ 0xFF, at: position)
        for broken in [flipped, original.getSlice(at: original.readerIndex, length: position) ?? ByteBuffer()] {
          let there = try VideoDecoder(codec, in: worker, prefersWorker: true)
          let here = try VideoDecoder(codec)
          for frame in frames.prefix(index) + [broken, frames[index + 1]] {
            let verdict = Self.verdict(here, frame, isShown: false)
            #expect(Self.verdict(there, frame, isShown: false) == verdict, "byte \(position) of frame \(index)")
            if case .refused = verdict { refused += 1 }
          }
        }
      }
    }
    #expect(refused > 0 && worker.crashes == 0)
  }

  @Test(
    "frames after a missing one, and before a keyframe, are refused as in this process", arguments: [Codec.vp8, .vp9])
  func missing(codec: Codec) throws {
    let frames = try VPXFrames.make(codec, count: 20, keyframeEvery: 10)
    for left in [[0], [3], [0, 1, 2]] {
      let there = try VideoDecoder(codec, in: MediaWorker(), prefersWorker: true)
      let here = try VideoDecoder(codec)
      for (index, frame) in frames.enumerated() where !left.contains(index) {
        #expect(Self.verdict(there, frame, isShown: false) == Self.verdict(here, frame, isShown: false), "\(index)")
      }
    }
  }

  @Test("a frame that states more than 4096 in a side is refused", arguments: [Codec.vp8, .vp9])
  func tooLarge(codec: Codec) throws {
    let small = try VPXFrames.make(codec, count: 1)[0]
    var large = small
    // The width follows the start code: of VP8 after 6 bytes; of VP9 in the lower half of the byte after the sync code.
    switch codec {
    case .vp8: large.setInteger(UInt16(5_000), at: large.readerIndex + 6, endianness: .little)
    default:
      let byte = large.getInteger(at: large.readerIndex + 4, as: UInt8.self) ?? 0
      large.setInteger(byte | 1, at: large.readerIndex + 4)
    }
    let worker = MediaWorker()
    let there = try VideoDecoder(codec, in: worker, prefersWorker: true)
    let verdict = Self.verdict(there, large, isShown: false)
    #expect(Self.verdict(try VideoDecoder(codec), large, isShown: false) == verdict)
    guard case .refused(let reason) = verdict else {
      Issue.record("\(verdict)")
      return
    }
    #expect(reason.contains("is above 4096x4096"))
    #expect(Self.verdict(there, small, isShown: false) == .size(VPXFrames.size))
    #expect(worker.crashes == 0)
  }
}
