import Bitstream
import Media
import MediaMessages
import MediaWorker
import NIOCore

/// Encodes frames to one H.264 stream in real time, by libx264 in a process of its own: constrained baseline, without B-frames.
final class H264Encoder {
  private(set) var settings: VideoEncoder.Settings
  private let session: MediaEncoderSession
  private var lastTime = Int64.min
  /// 0 (finest) to 51.
  private var quantizer: Int?

  /// A frame takes up to so many times its maximum from the buffer of the rate control.
  private static let bufferShare = 3
  private static let shortestBuffer = 100

  init(_ settings: VideoEncoder.Settings) throws(CodecError) {
    let action = "start an H.264 encoder for \(settings.size) at \(settings.bitrate) bit/s"
    let framesPerSecond = max(1, settings.framesPerSecond)
    // The maximum of a keyframe is in per cent of a frame's share: in milliseconds at the bitrate, half as much again.
    let largest = settings.maximumKeyframePercentage * 10 / framesPerSecond * Self.bufferShare / 2
    guard
      let described = EncoderSettings(
        width: settings.size.width, height: settings.size.height, millihertz: framesPerSecond * 1_000,
        bitrate: Self.clamped(settings.bitrate),
        keyframeDistance: settings.choosesKeyframes ? max(1, settings.keyframeDistance) : 0,
        bufferMilliseconds: min(max(Self.shortestBuffer, largest), 10_000), isCareful: settings.keepsEdges)
    else { throw CodecError(action, "both sides must be even and 2 to \(MediaLimits.side) pixels") }
    self.settings = settings
    do throws(MediaWorkerError) {
      session = try MediaEncoderSession(described)
    } catch {
      throw CodecError(action, worker: error, process: "process that encodes")
    }
  }

  func encode(
    _ videoFrame: VideoFrame, time: Int64, duration: Int?, keyframe: Bool
  ) throws(CodecError) -> VideoEncoder.Output? {
    let action = "encode a frame of \(videoFrame.size)"
    guard videoFrame.size == settings.size else {
      throw CodecError(action, "the encoder was started for \(settings.size)")
    }
    guard videoFrame.isWhole else { throw CodecError(action, "a plane is not of that size") }
    let time = max(time, lastTime == .min ? time : lastTime &+ 1)
    lastTime = time
    do throws(MediaWorkerError) {
      return try session.encode(time: time, bitrate: bitrate(duration), isKeyframe: keyframe) { memory in
        var start = 0
        for plane in [videoFrame.luma, videoFrame.blue, videoFrame.red] {
          guard start + plane.count <= memory.count else { return }
          UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + plane.count]).copyBytes(from: plane)
          start += plane.count
        }
      } _: { output, bytes in
        quantizer = output.quantizer
        return VideoEncoder.Output(payload: Self.frame(bytes), isKeyframe: output.isKeyframe)
      }
    } catch {
      throw CodecError(action, worker: error, process: "process that encodes")
    }
  }

  /// Changes the bitrate from the next frame on.
  func setBitrate(_ bitrate: Int) { settings.bitrate = bitrate }

  /// The quantizer of the last frame on the scale of libvpx, so that those at which libwebrtc scales down (37 here, 52 there) and up (24
  /// and 30) are the same.
  var lastQuantizer: Int? {
    quantizer.map { min(63, max(0, ($0 - 24) * 22 / 13 + 30)) }
  }

  /// The encoder takes all frames to be equally long: the bitrate is that of the frame's own duration.
  private func bitrate(_ duration: Int?) -> Int {
    guard let duration else { return Self.clamped(settings.bitrate) }
    let usual = Double(VideoEncoder.rate) / Double(max(1, settings.framesPerSecond))
    return Self.clamped(Int(Double(Self.clamped(settings.bitrate)) * min(10, Double(max(1, duration)) / usual)))
  }

  private static func clamped(_ bitrate: Int) -> Int { min(max(1_000, bitrate), EncoderSettings.maximumBitrate) }

  /// Leaves out the NAL units that are no part of a frame's form.
  private static func frame(_ bytes: UnsafeRawBufferPointer) -> ByteBuffer {
    let encoded = ByteBuffer(bytes: bytes)
    var frame = ByteBuffer()
    for unit in H264NALUnits(encoded) where unit.type.isKept { H264NALUnits.append(unit.bytes, to: &frame) }
    return frame
  }
}
