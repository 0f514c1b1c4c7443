import CFFmpeg
import MediaMessages

/// Encodes H.264 by libx264, in the calling thread: constrained baseline, no B-frames, a frame out for each frame in.
final class FrameEncoder {
  private let settings: EncoderSettings
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let frame: UnsafeMutablePointer<AVFrame>
  private let packet: UnsafeMutablePointer<AVPacket>

  /// Frames of more pixels are encoded faster and worse.
  private static let manyPixels = 1_280 * 720

  init(_ settings: EncoderSettings) throws(DecodingError) {
    guard let codec = avcodec_find_encoder_by_name("libx264") else {
      throw DecodingError("this FFmpeg has no libx264")
    }
    guard let context = avcodec_alloc_context3(codec), let frame = av_frame_alloc(), let packet = av_packet_alloc()
    else { throw DecodingError(chatbot_av_no_memory()) }
    self.settings = settings
    self.context = context
    self.frame = frame
    self.packet = packet
    context.pointee.width = Int32(settings.width)
    context.pointee.height = Int32(settings.height)
    context.pointee.pix_fmt = AV_PIX_FMT_YUV420P
    context.pointee.time_base = AVRational(num: 1, den: 90_000)
    context.pointee.framerate = AVRational(num: Int32(settings.millihertz), den: 1_000)
    context.pointee.thread_count = 1
    context.pointee.max_b_frames = 0
    context.pointee.gop_size = settings.keyframeDistance == 0 ? Int32.max : Int32(settings.keyframeDistance)
    setBitrate(settings.bitrate)
    let isFast = settings.width * settings.height > Self.manyPixels && !settings.isCareful
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    for (name, value) in [
      ("preset", isFast ? "superfast" : "veryfast"), ("tune", "zerolatency"), ("profile", "baseline"),
      ("forced-idr", "1"), ("x264-params", parameters),
    ] { av_dict_set(&options, name, value, 0) }
    let code = avcodec_open2(context, codec, &options)
    if code < 0 { throw Self.error(code) }
    frame.pointee.width = context.pointee.width
    frame.pointee.height = context.pointee.height
    frame.pointee.format = AV_PIX_FMT_YUV420P.rawValue
  }

  /// Parameter sets come with each keyframe, and lengths of 4 bytes before NAL units. One reference: receivers keep less.
  private var parameters: String {
    "annexb=0:repeat-headers=1:aud=0:ref=1:threads=1:sliced-threads=0:sync-lookahead=0"
      + (settings.keyframeDistance == 0 ? ":keyint=infinite:scenecut=0" : "")
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    var frame: UnsafeMutablePointer<AVFrame>? = frame
    var packet: UnsafeMutablePointer<AVPacket>? = packet
    avcodec_free_context(&context)
    av_frame_free(&frame)
    av_packet_free(&packet)
  }

  /// Encodes a frame in the memory, and writes the result there.
  ///
  /// - Returns: nil if the encoder returned no frame.
  func encode(
    time: Int64, bitrate: Int, isKeyframe: Bool, in memory: UnsafeMutableRawBufferPointer
  ) throws(DecodingError) -> EncoderOutput? {
    FFmpegLog.reset()
    setBitrate(bitrate)
    let (width, height) = (settings.width, settings.height)
    let (luma, colours) = (width * height, (width / 2) * (height / 2))
    guard luma + 2 * colours <= memory.count, let base = memory.baseAddress else {
      throw DecodingError("there is no room for \(width)x\(height)")
    }
    let start = base.assumingMemoryBound(to: UInt8.self)
    // libavcodec copies planes that have no reference counter.
    frame.pointee.data.0 = start
    frame.pointee.data.1 = start + luma
    frame.pointee.data.2 = start + luma + colours
    frame.pointee.linesize.0 = Int32(width)
    frame.pointee.linesize.1 = Int32(width / 2)
    frame.pointee.linesize.2 = Int32(width / 2)
    frame.pointee.pts = time
    frame.pointee.pict_type = isKeyframe ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
    var code = avcodec_send_frame(context, frame)
    if code < 0 { throw Self.error(code) }
    code = avcodec_receive_packet(context, packet)
    if code == chatbot_av_again() { return nil }
    if code < 0 { throw Self.error(code) }
    defer { av_packet_unref(packet) }
    let size = Int(packet.pointee.size)
    guard let data = packet.pointee.data, (1...MediaLimits.frameBytes).contains(size) else {
      throw DecodingError("an encoded frame has \(size) bytes")
    }
    UnsafeMutableRawBufferPointer(rebasing: memory[..<size]).copyMemory(
      from: UnsafeRawBufferPointer(start: data, count: size))
    return EncoderOutput(
      bytes: size, isKeyframe: packet.pointee.flags & AV_PKT_FLAG_KEY != 0,
      quantizer: min(51, max(0, Int(chatbot_av_quantizer(packet)))))
  }

  /// libx264's wrapper notices a change at the next frame.
  private func setBitrate(_ bitrate: Int) {
    context.pointee.bit_rate = Int64(bitrate)
    context.pointee.rc_max_rate = Int64(bitrate)
    context.pointee.rc_buffer_size = Int32(
      clamping: max(1_000, Int64(bitrate) * Int64(settings.bufferMilliseconds) / 1_000))
  }

  private static func error(_ code: Int32) -> DecodingError {
    let found = DecodingError(code)
    guard let text = FFmpegLog.error else { return found }
    return DecodingError("\(found.reason): \(text)")
  }
}
