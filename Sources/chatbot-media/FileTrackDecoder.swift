import CFFmpeg
import MediaMessages

/// Decodes one track of a file by libavcodec, in the calling thread. It makes up for errors as a player does.
final class FileTrackDecoder {
  private let stream: UnsafeMutablePointer<AVStream>
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let frame: UnsafeMutablePointer<AVFrame>
  private let output = FrameOutput()
  private var samples = SampleOutput()

  /// The decoders that may run, by their names in libavcodec.
  private static let decoders: [(AVCodecID, String)] = [
    (AV_CODEC_ID_H264, "h264"), (AV_CODEC_ID_HEVC, "hevc"), (AV_CODEC_ID_VP8, "vp8"), (AV_CODEC_ID_VP9, "vp9"),
    (AV_CODEC_ID_AV1, "libdav1d"), (AV_CODEC_ID_MPEG4, "mpeg4"), (AV_CODEC_ID_MJPEG, "mjpeg"),
    (AV_CODEC_ID_AAC, "aac"), (AV_CODEC_ID_MP3, "mp3float"), (AV_CODEC_ID_OPUS, "opus"),
    (AV_CODEC_ID_VORBIS, "vorbis"), (AV_CODEC_ID_FLAC, "flac"), (AV_CODEC_ID_ALAC, "alac"),
    (AV_CODEC_ID_AC3, "ac3"), (AV_CODEC_ID_PCM_S16LE, "pcm_s16le"), (AV_CODEC_ID_PCM_S16BE, "pcm_s16be"),
    (AV_CODEC_ID_PCM_S24LE, "pcm_s24le"), (AV_CODEC_ID_PCM_F32LE, "pcm_f32le"),
    (AV_CODEC_ID_PCM_MULAW, "pcm_mulaw"), (AV_CODEC_ID_PCM_ALAW, "pcm_alaw"), (AV_CODEC_ID_ADPCM_G722, "g722"),
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

  init(_ stream: UnsafeMutablePointer<AVStream>) throws(DecodingError) {
    guard let parameters = stream.pointee.codecpar, let name = Self.name(of: parameters.pointee.codec_id),
      let codec = avcodec_find_decoder_by_name(name)
    else { throw DecodingError("its codec is not decoded") }
    guard let context = avcodec_alloc_context3(codec), let frame = av_frame_alloc() else {
      throw DecodingError(chatbot_av_no_memory())
    }
    self.stream = stream
    self.context = context
    self.frame = frame
    var code = avcodec_parameters_to_context(context, parameters)
    if code < 0 { throw DecodingError(code) }
    context.pointee.thread_count = 1
    context.pointee.pkt_timebase = stream.pointee.time_base
    context.pointee.max_pixels = Int64(MediaLimits.side * MediaLimits.side)
    context.pointee.max_samples = Int64(MediaLimits.samples)
    code = avcodec_open2(context, codec, nil)
    if code < 0 { throw DecodingError(code) }
  }

  deinit {
    var (context, frame): (UnsafeMutablePointer<AVCodecContext>?, UnsafeMutablePointer<AVFrame>?) = (context, frame)
    avcodec_free_context(&context)
    av_frame_free(&frame)
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
    if code == chatbot_av_again() || code == chatbot_av_end() { return nil }
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

/// Writes decoded audio into the shared memory, as interleaved floats of its own rate.
struct SampleOutput {
  private var converter: OpaquePointer?

  private struct Format: Hashable {
    var samples: Int32
    var channels: Int32
    var rate: Int32
  }

  private var format: Format?

  mutating func write(
    _ frame: UnsafeMutablePointer<AVFrame>, time: Int64?, into memory: UnsafeMutableRawBufferPointer
  ) throws(DecodingError) -> FileAudio {
    let (count, channels) = (Int(frame.pointee.nb_samples), Int(frame.pointee.ch_layout.nb_channels))
    guard
      let audio = FileAudio(count: count, channels: channels, rate: Int(frame.pointee.sample_rate), time: time),
      count * channels * MemoryLayout<Float>.stride <= memory.count,
      let start = memory.baseAddress
    else { throw DecodingError("\(count) samples of \(channels) channels at \(frame.pointee.sample_rate) Hz") }
    let now = Format(
      samples: frame.pointee.format, channels: frame.pointee.ch_layout.nb_channels, rate: frame.pointee.sample_rate)
    if format != now {
      swr_free(&converter)
      var code = swr_alloc_set_opts2(
        &converter, &frame.pointee.ch_layout, AV_SAMPLE_FMT_FLT, now.rate, &frame.pointee.ch_layout,
        AVSampleFormat(now.samples), now.rate, 0, nil)
      if code >= 0 { code = swr_init(converter) }
      if code < 0 { throw DecodingError(code) }
      format = now
    }
    var target: UnsafeMutablePointer<UInt8>? = start.assumingMemoryBound(to: UInt8.self)
    let written = chatbot_swr_convert(converter, &target, Int32(count), frame)
    guard written == Int32(count) else { throw DecodingError("its samples have a format that cannot be converted") }
    return audio
  }
}
