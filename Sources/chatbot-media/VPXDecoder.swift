import CVPX
import MediaMessages

/// Decodes one stream of VP8 or VP9 by libvpx, in the calling thread: FFmpeg's decoders do not say that a frame is damaged, nor that one
/// before it is missing.
final class VPXDecoder: FrameDecoder {
  private let isVP9: Bool
  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  /// Whether a frame was too large: later frames could depend on it, up to the next keyframe.
  private var isBroken = false

  init(isVP9: Bool) throws(DecodingError) {
    self.isVP9 = isVP9
    context = .allocate(capacity: 1)
    context.initialize(to: vpx_codec_ctx_t())
    try start()
  }

  private func start() throws(DecodingError) {
    var settings = vpx_codec_dec_cfg_t()
    settings.threads = 1
    let code =
      isVP9 ? chatbot_vp9_decoder_init(context, &settings) : chatbot_vp8_decoder_init(context, &settings)
    if code != VPX_CODEC_OK { throw DecodingError(vpx: code) }
  }

  deinit {
    vpx_codec_destroy(context)
    context.deinitialize(count: 1)
    context.deallocate()
  }

  func decode(
    _ bytes: UnsafeRawBufferPointer, time: Int64, into memory: UnsafeMutableRawBufferPointer?
  ) throws(DecodingError) -> MediaResponse.Body {
    guard let start = bytes.bindMemory(to: UInt8.self).baseAddress, !bytes.isEmpty else {
      throw DecodingError("it is empty")
    }
    let count = UInt32(clamping: bytes.count)
    let isKeyframe = try checkSize(start, count)
    if isBroken {
      guard isKeyframe else { throw DecodingError("an earlier frame was too large") }
      vpx_codec_destroy(context)
      try self.start()
      isBroken = false
    }
    let code = vpx_codec_decode(context, start, count, nil, 0)
    try checkSizeOfLast()
    if code != VPX_CODEC_OK { throw DecodingError(vpx: code) }
    var corrupted: Int32 = 0
    if !isVP9, chatbot_vp8_decoder_get_corrupted(context, &corrupted) == VPX_CODEC_OK, corrupted != 0 {
      throw DecodingError("it is damaged, or an earlier frame was")
    }
    var position: vpx_codec_iter_t?
    guard let image = vpx_codec_get_frame(context, &position) else { return .video(nil) }
    return .video(try output(image.pointee, time: time, into: memory))
  }

  /// It keeps no frames.
  func receive(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> MediaResponse.Body { .video(nil) }

  func drain(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> MediaResponse.Body { .video(nil) }

  /// Refuses a keyframe that is too large before anything is allocated for it.
  ///
  /// - Returns: whether it is a keyframe.
  private func checkSize(_ start: UnsafePointer<UInt8>, _ count: UInt32) throws(DecodingError) -> Bool {
    var about = vpx_codec_stream_info_t()
    about.sz = UInt32(MemoryLayout<vpx_codec_stream_info_t>.size)
    let code = vpx_codec_peek_stream_info(isVP9 ? vpx_codec_vp9_dx() : vpx_codec_vp8_dx(), start, count, &about)
    guard code == VPX_CODEC_OK else { return false }
    try check(width: Int(about.w), height: Int(about.h))
    return about.is_kf != 0
  }

  /// Refuses a frame of VP9 that has become too large: the size can change without a keyframe, in a frame that is not shown.
  private func checkSizeOfLast() throws(DecodingError) {
    var size: [Int32] = [0, 0]
    guard isVP9, chatbot_vp9_decoder_get_size(context, &size) == VPX_CODEC_OK else { return }
    do throws(DecodingError) {
      try check(width: Int(size[0]), height: Int(size[1]))
    } catch {
      isBroken = true
      throw error
    }
  }

  private func check(width: Int, height: Int) throws(DecodingError) {
    guard width <= MediaLimits.side, height <= MediaLimits.side else {
      throw DecodingError("\(width)x\(height) is above \(MediaLimits.side)x\(MediaLimits.side)")
    }
  }

  private func output(
    _ image: vpx_image_t, time: Int64, into memory: UnsafeMutableRawBufferPointer?
  ) throws(DecodingError) -> DecodedVideo {
    // The bits of a sample above 8, which are left out (profile 2 of VP9).
    let excess = Int(image.bit_depth) - 8
    guard image.fmt == VPX_IMG_FMT_I420 || image.fmt == VPX_IMG_FMT_I42016 && (1...8).contains(excess),
      let luma = image.planes.0, let blue = image.planes.1, let red = image.planes.2
    else { throw DecodingError("its colours are not at half the width and height") }
    let isDeep = image.fmt == VPX_IMG_FMT_I42016
    let (width, height) = (Int(image.d_w), Int(image.d_h))
    guard let memory else {
      guard let size = DecodedVideo(width: width, height: height, planes: nil, time: time) else {
        throw DecodingError("\(width)x\(height) is above \(MediaLimits.side)x\(MediaLimits.side)")
      }
      return size
    }
    let placed = try FrameOutput.place(width: width, height: height, in: memory)
    let sources = [(luma, Int(image.stride.0)), (blue, Int(image.stride.1)), (red, Int(image.stride.2))]
    for (index, (source, stride)) in sources.enumerated() {
      let plane = DecodedVideo.size(ofPlane: index, width: width, height: height)
      for row in 0..<plane.height {
        let target = UnsafeMutableRawBufferPointer(
          rebasing: memory[(placed[index].offset + row * placed[index].stride)...])
        guard isDeep else {
          target.copyMemory(from: UnsafeRawBufferPointer(start: source + row * stride, count: plane.width))
          continue
        }
        let samples = UnsafeRawPointer(source + row * stride).assumingMemoryBound(to: UInt16.self)
        for column in 0..<plane.width {
          target[column] = UInt8(truncatingIfNeeded: samples[column] >> UInt16(excess))
        }
      }
    }
    guard let video = DecodedVideo(width: width, height: height, planes: placed, time: time) else {
      throw DecodingError("there is no room for \(width)x\(height)")
    }
    return video
  }
}

extension DecodingError {
  fileprivate init(vpx code: vpx_codec_err_t) {
    self.init(vpx_codec_err_to_string(code).map { String(cString: $0) } ?? "error \(code.rawValue)")
  }
}
