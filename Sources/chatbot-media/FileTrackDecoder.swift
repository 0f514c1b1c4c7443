import CFFmpeg
import MediaMessages

/// Decodes one track of a file by libavcodec, in the calling thread. It makes up for errors as a player does.
final class FileTrackDecoder {
  private let stream: UnsafeMutablePointer<AVStream>
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let frame: UnsafeMutablePointer<AVFrame>
  private let output = FrameOutput()
  private var samples: SampleOutput

  /// The decoders that may run, by their names in libavcodec.
  private static let decoders: [(AVCodecID, String)] = [
    (AV_CODEC_ID_H264, "h264"), (AV_CODEC_ID_HEVC, "hevc"), (AV_CODEC_ID_VP8, "vp8"), (AV_CODEC_ID_VP9, "vp9"),
    (AV_CODEC_ID_AV1, "libdav1d"), (AV_CODEC_ID_MPEG4, "mpeg4"), (AV_CODEC_ID_MJPEG, "mjpeg"),
    (AV_CODEC_ID_PNG, "png"), (AV_CODEC_ID_APNG, "apng"),
    (AV_CODEC_ID_AAC, "aac"), (AV_CODEC_ID_MP3, "mp3float"), (AV_CODEC_ID_OPUS, "opus"),
    (AV_CODEC_ID_VORBIS, "vorbis"), (AV_CODEC_ID_FLAC, "flac"), (AV_CODEC_ID_ALAC, "alac"),
    (AV_CODEC_ID_AC3, "ac3"), (AV_CODEC_ID_PCM_U8, "pcm_u8"), (AV_CODEC_ID_PCM_S16LE, "pcm_s16le"),
    (AV_CODEC_ID_PCM_S16BE, "pcm_s16be"), (AV_CODEC_ID_PCM_S24LE, "pcm_s24le"), (AV_CODEC_ID_PCM_S24BE, "pcm_s24be"),
    (AV_CODEC_ID_PCM_S32LE, "pcm_s32le"), (AV_CODEC_ID_PCM_S32BE, "pcm_s32be"), (AV_CODEC_ID_PCM_F32LE, "pcm_f32le"),
    (AV_CODEC_ID_PCM_F32BE, "pcm_f32be"), (AV_CODEC_ID_PCM_F64LE, "pcm_f64le"), (AV_CODEC_ID_PCM_F64BE, "pcm_f64be"),
    (AV_CODEC_ID_PCM_MULAW, "pcm_mulaw"), (AV_CODEC_ID_PCM_ALAW, "pcm_alaw"), (AV_CODEC_ID_ADPCM_G722, "g722"),
    (AV_CODEC_ID_ADPCM_MS, "adpcm_ms"), (AV_CODEC_ID_ADPCM_IMA_WAV, "adpcm_ima_wav"), (AV_CODEC_ID_GSM_MS, "gsm_ms"),
  ]

  /// The names for `codec_whitelist`.
  static let names = decoders.map(\.1).joined(separator: ",")

  /// Returns the name of the decoder; nil if the codec is not decoded.
  static func name(of identifier: AVCodecID) -> String? {
    guard let name = decoders.first(where: { $0.0 == identifier })?.1, avcodec_find_decoder_by_name(name) != nil else {
      return nil
    }
    return name
  }

  /// - Parameter channels: of the decoded audio, 1 or 2.
  init(_ stream: UnsafeMutablePointer<AVStream>, channels: Int) throws(DecodingError) {
    guard let parameters = stream.pointee.codecpar, let name = Self.name(of: parameters.pointee.codec_id),
      let codec = avcodec_find_decoder_by_name(name)
    else { throw DecodingError("its codec is not decoded") }
    guard let context = avcodec_alloc_context3(codec), let frame = av_frame_alloc() else {
      throw DecodingError(chatbot_av_no_memory())
    }
    self.stream = stream
    self.context = context
    self.frame = frame
    samples = SampleOutput(channels: channels)
    var code = avcodec_parameters_to_context(context, parameters)
    if code < 0 { throw DecodingError(code) }
    context.pointee.thread_count = 1
    context.pointee.pkt_timebase = stream.pointee.time_base
    context.pointee.max_pixels = Int64(MediaLimits.side * MediaLimits.side)
    context.pointee.max_samples = Int64(MediaLimits.samples)
    // A damaged picture has no next frame that would make up for it.
    if [AV_CODEC_ID_PNG, AV_CODEC_ID_APNG].contains(parameters.pointee.codec_id) {
      context.pointee.err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE
    }
    code = avcodec_open2(context, codec, nil)
    if code < 0 { throw DecodingError(code) }
  }

  deinit {
    var (context, frame): (UnsafeMutablePointer<AVCodecContext>?, UnsafeMutablePointer<AVFrame>?) = (context, frame)
    avcodec_free_context(&context)
    av_frame_free(&frame)
    samples.free()
  }

  /// Gives the next packet. ``receive(into:)`` has returned nil before.
  ///
  /// - Returns: what is wrong with the packet; nil if nothing is.
  func send(_ packet: UnsafeMutablePointer<AVPacket>) -> FileResponse? {
    FFmpegLog.reset()
    let code = avcodec_send_packet(context, packet)
    guard code < 0, code != chatbot_av_again(), code != chatbot_av_end() else { return nil }
    let time = packet.pointee.pts == Int64.min ? packet.pointee.dts : packet.pointee.pts
    return .undecodable(time: FileInput.units(time, stream.pointee.time_base), reason: Self.reason(code))
  }

  /// Tells the decoder that there are no more packets.
  func finish() { avcodec_send_packet(context, nil) }

  /// Returns the next frame or audio; nil if another packet is needed, or after the end.
  func receive(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> FileResponse? {
    let code = avcodec_receive_frame(context, frame)
    if code == chatbot_av_end() { return try samples.finish(into: memory).map { .audio($0) } }
    if code == chatbot_av_again() { return nil }
    if code < 0 { return .undecodable(time: nil, reason: Self.reason(code)) }
    defer { av_frame_unref(frame) }
    let best = frame.pointee.best_effort_timestamp
    let stamp = best == Int64.min ? frame.pointee.pts : best
    let time = FileInput.units(stamp, stream.pointee.time_base)
    if context.pointee.codec_type == AVMEDIA_TYPE_VIDEO {
      return .video(try output.video(frame, into: memory, keepsRange: false), time: time)
    }
    return .audio(try samples.write(frame, time: time, into: memory))
  }

  private static func reason(_ code: Int32) -> String {
    FFmpegLog.error ?? DecodingError(code).reason
  }
}
