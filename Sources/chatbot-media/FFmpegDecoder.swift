import CFFmpeg
import Glibc
import MediaMessages

/// Decodes one stream by FFmpeg, in the calling thread.
final class FFmpegDecoder: FrameDecoder {
  private let isVideo: Bool
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let packet: UnsafeMutablePointer<AVPacket>
  /// The decoded frame that is returned next.
  private let frame: UnsafeMutablePointer<AVFrame>
  private var hasFrame = false
  private var isDraining = false
  private let output = FrameOutput()

  /// - Parameters:
  ///   - name: that of the decoder in FFmpeg.
  ///   - extradata: what it needs before the first frame.
  init(_ name: String, extradata: [UInt8], isVideo: Bool) throws(DecodingError) {
    guard let found = avcodec_find_decoder_by_name(name) else {
      throw DecodingError("this FFmpeg does not decode it")
    }
    guard let context = avcodec_alloc_context3(found), let packet = av_packet_alloc(), let frame = av_frame_alloc()
    else { throw DecodingError(chatbot_av_no_memory()) }
    self.isVideo = isVideo
    self.context = context
    self.packet = packet
    self.frame = frame
    context.pointee.thread_count = 1
    context.pointee.max_pixels = Int64(MediaLimits.side * MediaLimits.side)
    context.pointee.max_samples = Int64(MediaLimits.samples)
    context.pointee.get_buffer2 = { context, frame, flags in
      guard let context, context.pointee.width <= MediaLimits.side, context.pointee.height <= MediaLimits.side else {
        return chatbot_av_no_memory()
      }
      return avcodec_default_get_buffer2(context, frame, flags)
    }
    configure(extradata)
    let code = avcodec_open2(context, found, nil)
    if code < 0 { throw DecodingError(code) }
  }

  deinit {
    var (context, packet, frame): (UnsafeMutablePointer<AVCodecContext>?, _, _) = (
      context, Optional(packet), Optional(frame)
    )
    avcodec_free_context(&context)
    av_packet_free(&packet)
    av_frame_free(&frame)
  }

  func decode(
    _ bytes: UnsafeRawBufferPointer, time: Int64, into memory: UnsafeMutableRawBufferPointer?
  ) throws(DecodingError) -> MediaResponse.Body {
    FFmpegLog.reset()
    if isDraining { restart() }
    guard let start = bytes.baseAddress, !bytes.isEmpty else { throw DecodingError("it is empty") }
    var code = av_new_packet(packet, Int32(clamping: bytes.count))
    if code < 0 { throw DecodingError(code) }
    packet.pointee.data.update(from: start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    packet.pointee.pts = time
    // Nobody asked for a frame of the last request.
    discardFrame()
    code = avcodec_send_packet(context, packet)
    if code == chatbot_av_again() {
      while try next() { discardFrame() }
      code = avcodec_send_packet(context, packet)
    }
    av_packet_unref(packet)
    if code < 0 {
      while (try? next()) ?? false { discardFrame() }
      throw error(code)
    }
    return try response(into: memory)
  }

  func receive(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> MediaResponse.Body {
    FFmpegLog.reset()
    return try response(into: memory)
  }

  func drain(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> MediaResponse.Body {
    FFmpegLog.reset()
    if !isDraining { avcodec_send_packet(context, nil) }
    isDraining = true
    return try response(into: memory)
  }

  private func restart() {
    discardFrame()
    avcodec_flush_buffers(context)
    isDraining = false
  }

  private func response(into memory: UnsafeMutableRawBufferPointer?) throws(DecodingError) -> MediaResponse.Body {
    guard try next() else {
      try checkLog()
      return isVideo ? .video(nil) : .audio(try output.silence())
    }
    var hasMore = false
    defer { if !hasMore { discardFrame() } }
    guard isVideo else { return .audio(try output.audio(frame, into: memory)) }
    guard let memory else {
      var last = try output.size(of: frame)
      var isDamaged = chatbot_av_is_damaged(frame) != 0
      discardFrame()
      while try next() {
        last = try output.size(of: frame)
        isDamaged = isDamaged || chatbot_av_is_damaged(frame) != 0
        discardFrame()
      }
      if isDamaged { throw error(0) }
      try checkLog()
      return .video(last)
    }
    if chatbot_av_is_damaged(frame) != 0 { throw error(0) }
    try checkLog()
    let written = try output.video(frame, into: memory)
    let time = frame.pointee.pts == Int64.min ? nil : frame.pointee.pts
    discardFrame()
    // The next one stays until it is asked for.
    hasMore = (try? next()) ?? false
    return .video(
      DecodedVideo(
        width: written.width, height: written.height, planes: written.planes, time: time, hasMore: hasMore))
  }

  /// Takes the next frame from the decoder, unless there is one.
  private func next() throws(DecodingError) -> Bool {
    if hasFrame { return true }
    let code = avcodec_receive_frame(context, frame)
    if code == chatbot_av_again() || code == chatbot_av_end() { return false }
    if code < 0 { throw error(code) }
    hasFrame = true
    return true
  }

  private func discardFrame() {
    av_frame_unref(frame)
    hasFrame = false
  }

  /// Refuses a frame in which the decoder found an error, even if it made up for it.
  private func checkLog() throws(DecodingError) {
    if FFmpegLog.damage != nil { throw error(0) }
  }

  /// The first error that the decoder logged, or what a code means.
  private func error(_ code: Int32) -> DecodingError {
    if let text = FFmpegLog.damage { return DecodingError(text) }
    return code == 0 ? DecodingError("parts of it are missing") : DecodingError(code)
  }

  private func configure(_ extradata: [UInt8]) {
    if !isVideo {
      // G.722, the only codec of audio.
      context.pointee.sample_rate = 16_000
      av_channel_layout_default(&context.pointee.ch_layout, 1)
    }
    guard !extradata.isEmpty, let start = av_mallocz(extradata.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
      return
    }
    start.copyMemory(from: extradata, byteCount: extradata.count)
    context.pointee.extradata = start.assumingMemoryBound(to: UInt8.self)
    context.pointee.extradata_size = Int32(extradata.count)
  }
}
