import CVPX
import Media
import NIOCore

/// Encodes frames to one stream in real time, by libvpx. A subclass for each codec says what differs.
package class VPXEncoder {
  package typealias Settings = VideoEncoder.Settings
  package typealias Output = VideoEncoder.Output

  /// What is different for each codec.
  struct Format {
    /// For example `VP8`.
    let name: String
    let interface: OpaquePointer?
    let start: (UnsafeMutablePointer<vpx_codec_ctx_t>, UnsafePointer<vpx_codec_enc_cfg_t>) -> vpx_codec_err_t
    /// Sets what only this codec knows, after the start.
    let control: (UnsafeMutablePointer<vpx_codec_ctx_t>, Settings) -> Void
  }

  package private(set) var settings: Settings
  private let name: String
  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  private var configuration: vpx_codec_enc_cfg_t
  private var lastTime = Int64.min

  init(_ format: Format, _ settings: Settings) throws(CodecError) {
    let action = "start a \(format.name) encoder for \(settings.size) at \(settings.bitrate) bit/s"
    self.settings = settings
    name = format.name
    context = .allocate(capacity: 1)
    context.initialize(to: vpx_codec_ctx_t())
    configuration = vpx_codec_enc_cfg_t()
    let sides = 2...16_383
    guard sides.contains(settings.size.width), sides.contains(settings.size.height) else {
      throw CodecError(action, "a side must be 2 to 16383 pixels")
    }
    var code = vpx_codec_enc_config_default(format.interface, &configuration, 0)
    if code != VPX_CODEC_OK { throw CodecError(action, vpx: code) }
    configuration.g_w = UInt32(settings.size.width)
    configuration.g_h = UInt32(settings.size.height)
    configuration.g_timebase = vpx_rational(num: 1, den: Self.rate)
    configuration.g_threads = UInt32(clamping: max(1, settings.threads))
    configuration.g_lag_in_frames = 0
    configuration.g_error_resilient = 0
    configuration.g_pass = VPX_RC_ONE_PASS
    configuration.rc_end_usage = VPX_CBR
    configuration.rc_target_bitrate = UInt32(clamping: max(1, settings.bitrate / 1_000))
    configuration.rc_min_quantizer = 2
    configuration.rc_max_quantizer = UInt32(clamping: min(max(2, settings.coarsestQuantizer), 63))
    configuration.rc_undershoot_pct = 100
    configuration.rc_overshoot_pct = 15
    configuration.rc_buf_initial_sz = 500
    configuration.rc_buf_optimal_sz = 600
    configuration.rc_buf_sz = 1_000
    configuration.kf_mode = settings.choosesKeyframes ? VPX_KF_AUTO : VPX_KF_DISABLED
    configuration.kf_max_dist = UInt32(clamping: max(0, settings.keyframeDistance))
    code = format.start(context, &configuration)
    if code != VPX_CODEC_OK { throw CodecError(action, vpx: code) }
    format.control(context, settings)
    _ = chatbot_vpx_encoder_set_largest_keyframe(context, UInt32(clamping: settings.maximumKeyframePercentage))
  }

  deinit {
    vpx_codec_destroy(context)
    context.deinitialize(count: 1)
    context.deallocate()
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
    let action = "encode a frame of \(videoFrame.size)"
    guard videoFrame.size == settings.size else {
      throw CodecError(action, "the encoder was started for \(settings.size)")
    }
    guard videoFrame.isWhole else { throw CodecError(action, "a plane is not of that size") }
    let time = max(time, lastTime == .min ? time : lastTime &+ 1)
    let duration = UInt(max(1, duration ?? Int(Self.rate) / max(1, settings.framesPerSecond)))
    lastTime = time
    let flags = keyframe ? vpx_enc_frame_flags_t(VPX_EFLAG_FORCE_KF) : 0
    var code = VPX_CODEC_OK
    videoFrame.withImage { image in
      var image = image
      code = vpx_codec_encode(context, &image, time, duration, flags, UInt(VPX_DL_REALTIME))
    }
    if code != VPX_CODEC_OK { throw CodecError(action, vpx: code) }
    var position: vpx_codec_iter_t?
    while let packet = vpx_codec_get_cx_data(context, &position) {
      guard let bytes = chatbot_vpx_frame_bytes(packet) else { continue }
      let payload = UnsafeRawBufferPointer(start: bytes, count: chatbot_vpx_frame_size(packet))
      if payload.isEmpty { continue }
      return Output(
        payload: ByteBuffer(bytes: payload), isKeyframe: chatbot_vpx_frame_is_keyframe(packet) != 0)
    }
    return nil
  }

  /// Changes the bitrate from the next frame on.
  ///
  /// - Parameter bitrate: bits a second.
  package func setBitrate(_ bitrate: Int) throws(CodecError) {
    configuration.rc_target_bitrate = UInt32(clamping: max(1, bitrate / 1_000))
    let code = vpx_codec_enc_config_set(context, &configuration)
    if code != VPX_CODEC_OK { throw CodecError("set \(name) to \(bitrate) bit/s", vpx: code) }
    settings.bitrate = bitrate
  }

  /// The quantizer of the last frame: 0 (finest) to 63, the scale of `coarsestQuantizer`; nil before the first.
  package var lastQuantizer: Int? {
    var quantizer: Int32 = 0
    guard lastTime != .min, chatbot_vpx_encoder_get_quantizer(context, &quantizer) == VPX_CODEC_OK else { return nil }
    return Int(quantizer)
  }

  private static let rate = Int32(VideoEncoder.rate)
}

extension VideoFrame {
  /// Describes the planes to libvpx; the image is valid while `body` runs.
  fileprivate func withImage(_ body: (vpx_image_t) -> Void) {
    luma.withUnsafeBufferPointer { luma in
      blue.withUnsafeBufferPointer { blue in
        red.withUnsafeBufferPointer { red in
          var image = vpx_image_t()
          // Wrapping only describes the memory; libvpx reads the planes and never writes to them.
          let start = UnsafeMutablePointer(mutating: luma.baseAddress)
          guard vpx_img_wrap(&image, VPX_IMG_FMT_I420, UInt32(size.width), UInt32(size.height), 1, start) != nil else {
            return
          }
          image.planes.0 = start
          image.planes.1 = UnsafeMutablePointer(mutating: blue.baseAddress)
          image.planes.2 = UnsafeMutablePointer(mutating: red.baseAddress)
          image.stride.0 = Int32(size.width)
          image.stride.1 = Int32(colourStride)
          image.stride.2 = Int32(colourStride)
          body(image)
        }
      }
    }
  }
}
