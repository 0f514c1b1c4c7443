import CFFmpeg
import MediaMessages

/// Encodes the frames of a composition by libx264, libvpx or libaom. Frames are read where they are in the shared memory: what an encoder
/// keeps of them it copies before it returns.
final class CompositionVideoEncoder {
  private let settings: CompositionEncoderSettings
  private let output: PacketOutput
  private let frame: UnsafeMutablePointer<AVFrame>

  /// Always the same, because the bytes of a file depend on it.
  private static let threads: Int32 = 4

  init(_ settings: CompositionEncoderSettings) throws(DecodingError) {
    output = try Self.open(settings)
    guard let frame = av_frame_alloc() else { throw DecodingError(chatbot_av_no_memory()) }
    self.settings = settings
    self.frame = frame
  }

  private static func open(_ settings: CompositionEncoderSettings) throws(DecodingError) -> PacketOutput {
    guard let choice = EncoderChoice(settings) else { throw DecodingError("it is no codec of video") }
    let (context, codec) = try PacketOutput.context(of: choice.name)
    let output = try PacketOutput(context, skipsEnd: false)
    context.pointee.width = Int32(settings.width)
    context.pointee.height = Int32(settings.height)
    context.pointee.pix_fmt = AV_PIX_FMT_YUV420P
    // Cameras of calls send the colours of ITU-R BT.601; players take unnamed ones of this size for those of BT.709.
    context.pointee.color_range = AVCOL_RANGE_MPEG
    context.pointee.colorspace = AVCOL_SPC_SMPTE170M
    context.pointee.color_primaries = AVCOL_PRI_SMPTE170M
    context.pointee.color_trc = AVCOL_TRC_SMPTE170M
    context.pointee.time_base = AVRational(num: Int32(settings.denominator), den: Int32(settings.numerator))
    context.pointee.framerate = AVRational(num: Int32(settings.numerator), den: Int32(settings.denominator))
    context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
    context.pointee.thread_count = Self.threads
    context.pointee.gop_size = Int32(settings.keyframeDistance)
    context.pointee.bit_rate = Int64(choice.bitrate)
    if let maximum = settings.maximumBitrate {
      context.pointee.rc_max_rate = Int64(maximum)
      context.pointee.rc_buffer_size = Int32(clamping: 2 * maximum)
    }
    let flags = AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT
    context.pointee.flags |= flags | Int32(bitPattern: chatbot_av_closed_groups())
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    for (name, value) in choice.options { av_dict_set(&options, name, value, 0) }
    let code = avcodec_open2(context, codec, &options)
    if code < 0 { throw PacketOutput.error(code) }
    return output
  }

  deinit {
    var frame: UnsafeMutablePointer<AVFrame>? = frame
    av_frame_free(&frame)
  }

  func opened(in memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> TrackEncoderResponse {
    try output.opened(delay: 0, privateData: try privateDataOfFirstPacket(), in: memory)
  }

  /// Returns what another encoder of the same settings says with its first packet; nil if the encoder has said it already, or says it
  /// nowhere.
  private func privateDataOfFirstPacket() throws(DecodingError) -> [UInt8]? {
    switch settings.codec.encoder {
    case .av1: break
    case .h264, .vp8, .vp9, .aac, .opus, nil: return nil
    }
    let probe = try Self.open(settings)
    var grey = av_frame_alloc()
    defer { av_frame_free(&grey) }
    guard let grey else { throw DecodingError(chatbot_av_no_memory()) }
    grey.pointee.width = Int32(settings.width)
    grey.pointee.height = Int32(settings.height)
    grey.pointee.format = AV_PIX_FMT_YUV420P.rawValue
    var code = av_frame_get_buffer(grey, 0)
    if code < 0 { throw DecodingError(code) }
    let lines = grey.pointee.linesize
    let planes = [
      (grey.pointee.data.0, Int(lines.0) * settings.height), (grey.pointee.data.1, Int(lines.1) * settings.height / 2),
      (grey.pointee.data.2, Int(lines.2) * settings.height / 2),
    ]
    for (plane, count) in planes { plane?.update(repeating: 128, count: count) }
    grey.pointee.pts = 0
    code = avcodec_send_frame(probe.context, grey)
    if code >= 0 { code = avcodec_send_frame(probe.context, nil) }
    if code < 0 { throw PacketOutput.error(code) }
    return try probe.privateDataOfPacket()
  }

  /// Encodes the frame of a slot.
  func encode(
    slot: UInt8, number: Int64, in memory: UnsafeMutableRawBufferPointer
  ) throws(DecodingError) -> TrackEncoderResponse {
    FFmpegLog.reset()
    guard !output.isWaiting else { throw DecodingError("packets were not taken") }
    let (width, height) = (settings.width, settings.height)
    let (luma, colours) = (width * height, (width / 2) * (height / 2))
    let offset = Int(slot) * TrackEncoderRequest.slotBytes
    guard settings.frameBytes <= TrackEncoderRequest.slotBytes, offset + settings.frameBytes <= memory.count,
      let base = memory.baseAddress
    else { throw DecodingError("there is no room for \(width)x\(height)") }
    let start = (base + offset).assumingMemoryBound(to: UInt8.self)
    av_frame_unref(frame)
    frame.pointee.width = Int32(width)
    frame.pointee.height = Int32(height)
    frame.pointee.format = AV_PIX_FMT_YUV420P.rawValue
    frame.pointee.color_range = AVCOL_RANGE_MPEG
    frame.pointee.colorspace = AVCOL_SPC_SMPTE170M
    frame.pointee.color_primaries = AVCOL_PRI_SMPTE170M
    frame.pointee.color_trc = AVCOL_TRC_SMPTE170M
    frame.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
    frame.pointee.buf.0 = chatbot_av_borrow(start, settings.frameBytes)
    guard frame.pointee.buf.0 != nil else { throw DecodingError(chatbot_av_no_memory()) }
    frame.pointee.data.0 = start
    frame.pointee.data.1 = start + luma
    frame.pointee.data.2 = start + luma + colours
    frame.pointee.linesize.0 = Int32(width)
    frame.pointee.linesize.1 = Int32(width / 2)
    frame.pointee.linesize.2 = Int32(width / 2)
    frame.pointee.pts = number
    let code = avcodec_send_frame(output.context, frame)
    av_frame_unref(frame)
    if code < 0 { throw PacketOutput.error(code) }
    return try output.packets(into: memory)
  }

  func more(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> TrackEncoderResponse {
    try output.packets(into: memory)
  }

  func finish(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> TrackEncoderResponse {
    FFmpegLog.reset()
    let code = avcodec_send_frame(output.context, nil)
    if code < 0, code != chatbot_av_end() { throw PacketOutput.error(code) }
    return try output.packets(into: memory)
  }
}

/// The encoder of a codec and its options. None of them follows the time that encoding takes, or the processors of the machine.
private struct EncoderChoice {
  let name: String
  /// Bits a second; 0 where only the quality decides.
  let bitrate: Int
  let options: [(String, String)]

  init?(_ settings: CompositionEncoderSettings) {
    let steps = settings.quality - CompositionEncoderSettings.standardQuality
    switch settings.codec.encoder {
    case .h264:
      name = "libx264"
      bitrate = 0
      options = [
        ("preset", "veryfast"), ("profile", "high"), ("crf", "\(23 - 2 * steps)"),
        ("x264-params", "cpu-independent=1:opencl=0"),
      ]
    case .vp9:
      name = "libvpx-vp9"
      bitrate = settings.maximumBitrate ?? 0
      options = [
        ("crf", "\(32 - 4 * steps)"), ("deadline", "realtime"), ("cpu-used", "6"), ("row-mt", "0"),
        ("tile-columns", "2"), ("lag-in-frames", "0"), ("auto-alt-ref", "0"),
      ]
    case .vp8:
      name = "libvpx"
      // Its constant quality has a limit always: so much that quality decides, as far as a codec of this age can.
      bitrate =
        settings.maximumBitrate
        ?? max(500_000, settings.width * settings.height * settings.numerator / settings.denominator / 2)
      // A positive speed would follow the time that frames take.
      options = [
        ("crf", "\(min(63, max(4, 16 - 3 * steps)))"), ("deadline", "realtime"), ("cpu-used", "-6"),
        ("lag-in-frames", "0"), ("auto-alt-ref", "0"),
      ]
    case .av1:
      name = "libaom-av1"
      bitrate = settings.maximumBitrate ?? 0
      options = [
        ("crf", "\(34 - 4 * steps)"), ("usage", "realtime"), ("cpu-used", "8"), ("row-mt", "0"), ("tile-columns", "1"),
        ("lag-in-frames", "0"),
      ]
    case .aac, .opus, nil: return nil
    }
  }
}
