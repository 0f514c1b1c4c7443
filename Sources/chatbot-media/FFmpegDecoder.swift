import CFFmpeg
import CMediaProgram
import Glibc
import MediaMessages

/// Decodes one stream by FFmpeg, in the calling thread.
final class FFmpegDecoder: FrameDecoder {
  /// What it decodes.
  enum Coding {
    case h264, g722
  }

  private let coding: Coding
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let packet: UnsafeMutablePointer<AVPacket>
  /// The decoded frame that is returned next.
  private let frame: UnsafeMutablePointer<AVFrame>
  private var hasFrame = false
  private var isDraining = false
  private let output = FrameOutput()

  init(_ coding: Coding) throws(DecodingError) {
    guard let found = avcodec_find_decoder_by_name(coding.decoderName) else {
      throw DecodingError("this FFmpeg does not decode it")
    }
    guard let context = avcodec_alloc_context3(found), let packet = av_packet_alloc(), let frame = av_frame_alloc()
    else { throw DecodingError(chatbot_av_no_memory()) }
    self.coding = coding
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
    coding.configure(context)
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
    cmediaprogram_log_reset()
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
    cmediaprogram_log_reset()
    return try response(into: memory)
  }

  func drain(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> MediaResponse.Body {
    cmediaprogram_log_reset()
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
      return coding.isVideo ? .video(nil) : .audio(try output.silence())
    }
    defer { discardFrame() }
    guard coding.isVideo else { return .audio(try output.audio(frame, into: memory)) }
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
    let hasMore = (try? next()) ?? false
    defer { if hasMore { hasFrame = true } }
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

  /// Refuses a frame in which FFmpeg found an error, even if it made up for it.
  private func checkLog() throws(DecodingError) {
    if cmediaprogram_log_errors() > 0 { throw error(0) }
  }

  /// The first error that FFmpeg logged, or what a code means.
  private func error(_ code: Int32) -> DecodingError {
    if cmediaprogram_log_errors() > 0, let text = cmediaprogram_log_text() {
      return DecodingError(
        String(decoding: UnsafeBufferPointer(start: text, count: strlen(text)).map(UInt8.init), as: UTF8.self))
    }
    return code == 0 ? DecodingError("parts of it are missing") : DecodingError(code)
  }
}

extension FFmpegDecoder.Coding {
  /// The decoder's name in FFmpeg: a list of those that may run, and no search in all that it has.
  fileprivate var decoderName: String {
    switch self {
    case .h264: "h264"
    case .g722: "g722"
    }
  }

  fileprivate var isVideo: Bool {
    switch self {
    case .h264: true
    case .g722: false
    }
  }

  /// An `avcC` without parameter sets, which come with each keyframe: NAL units follow their lengths in 4 bytes.
  private static let lengthsOfFourBytes: [UInt8] = [1, 66, 0, 31, 0xFF, 0xE0, 0]

  fileprivate func configure(_ context: UnsafeMutablePointer<AVCodecContext>) {
    switch self {
    case .h264:
      let bytes = Self.lengthsOfFourBytes
      guard let start = av_mallocz(bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else { return }
      start.copyMemory(from: bytes, byteCount: bytes.count)
      context.pointee.extradata = start.assumingMemoryBound(to: UInt8.self)
      context.pointee.extradata_size = Int32(bytes.count)
    case .g722:
      context.pointee.sample_rate = 16_000
      av_channel_layout_default(&context.pointee.ch_layout, 1)
    }
  }
}
