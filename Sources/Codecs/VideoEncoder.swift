package import Media
package import NIOCore

/// Encodes frames to one video stream in real time: the one place that chooses the encoder of a codec.
package final class VideoEncoder {
  private enum Encoder {
    case vpx(VPXEncoder)
    case h264(H264Encoder)
  }

  /// The settings of an encoder.
  package struct Settings: Sendable, Hashable {
    package var size: VideoSize
    /// The usual frame rate, which determines a frame's share of the bitrate, not its time.
    package var framesPerSecond = 30
    /// Bits a second.
    package var bitrate = 1_000_000
    /// The maximum distance between keyframes, in frames.
    package var keyframeDistance = 3_000
    /// Whether the encoder also makes keyframes at scene cuts and after `keyframeDistance`, or only on request.
    package var choosesKeyframes = true
    /// The maximum size of a keyframe, in per cent of one frame's share of the bitrate.
    package var maximumKeyframePercentage = 900
    /// The coarsest quantizer that may be used to keep the bitrate: 2 to 63.
    package var coarsestQuantizer = 56
    /// 0 (best) to 16 (fastest).
    package var speed = 8
    package var threads = 1
    /// Whether programs read the frames, so that each edge between black and white must be there in every frame. An encoder that
    /// cannot do that at ``speed`` is slower.
    package var keepsEdges = false

    package init(size: VideoSize) {
      self.size = size
    }
  }

  /// One encoded frame.
  package struct Output: Sendable, Hashable {
    package let payload: ByteBuffer
    package let isKeyframe: Bool
  }

  /// The rate of the times passed to `encode`, in Hz: that of the RTP clock of all video.
  package static let rate = 90_000

  /// The codec of the stream.
  package let codec: Codec
  private let encoder: Encoder

  package init(_ codec: Codec, _ settings: Settings) throws(CodecError) {
    self.codec = codec
    switch codec.properties.encoder {
    case .libvpxVP8: encoder = .vpx(try VP8Encoder(settings))
    case .libvpxVP9: encoder = .vpx(try VP9Encoder(settings))
    case .worker: encoder = .h264(try H264Encoder(settings))
    case .libopus, nil:
      let reason = codec.kind == .video ? "is not encoded live" : "is audio"
      throw CodecError("start an encoder of video", "\(codec.properties.name) \(reason)")
    }
  }

  /// The settings, with the bitrate that was set last.
  package var settings: Settings {
    switch encoder {
    case .vpx(let encoder): encoder.settings
    case .h264(let encoder): encoder.settings
    }
  }

  /// Encodes one frame.
  ///
  /// - Parameters:
  ///   - videoFrame: a frame of the encoder's size.
  ///   - time: the presentation time in ticks of 90 kHz; increased if it is not after that of the previous frame.
  ///   - duration: the presentation duration in the same ticks, which determines the frame's share of the bitrate; nil for that
  ///     of `framesPerSecond`.
  ///   - keyframe: whether the frame must be a keyframe.
  /// - Returns: nil if the encoder dropped the frame to keep its bitrate.
  package func encode(
    _ videoFrame: VideoFrame, time: Int64, duration: Int? = nil, keyframe: Bool = false
  ) throws(CodecError) -> Output? {
    switch encoder {
    case .vpx(let encoder): try encoder.encode(videoFrame, time: time, duration: duration, keyframe: keyframe)
    case .h264(let encoder): try encoder.encode(videoFrame, time: time, duration: duration, keyframe: keyframe)
    }
  }

  /// Changes the bitrate from the next frame on.
  ///
  /// - Parameter bitrate: bits a second.
  package func setBitrate(_ bitrate: Int) throws(CodecError) {
    switch encoder {
    case .vpx(let encoder): try encoder.setBitrate(bitrate)
    case .h264(let encoder): encoder.setBitrate(bitrate)
    }
  }

  /// The quantizer of the last frame on the scale of ``Settings/coarsestQuantizer``, 0 (finest) to 63; nil before the first.
  package var lastQuantizer: Int? {
    switch encoder {
    case .vpx(let encoder): encoder.lastQuantizer
    case .h264(let encoder): encoder.lastQuantizer
    }
  }
}
