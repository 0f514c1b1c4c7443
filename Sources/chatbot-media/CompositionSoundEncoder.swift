import CFFmpeg
import MediaMessages

/// Encodes the sound of a composition as AAC-LC by FFmpeg, or as Opus by libopus.
final class CompositionSoundEncoder {
  private let settings: SoundEncoderSettings
  private let output: PacketOutput
  private let frame: UnsafeMutablePointer<AVFrame>
  /// Samples that do not fill a frame yet, interleaved.
  private var kept: [Float] = []
  /// The samples of each channel that were encoded.
  private var position: Int64 = 0

  init(_ settings: SoundEncoderSettings) throws(DecodingError) {
    let name: String
    let format: AVSampleFormat
    switch settings.codec.encoder {
    case .aac: (name, format) = ("aac", AV_SAMPLE_FMT_FLTP)
    case .opus: (name, format) = ("libopus", AV_SAMPLE_FMT_FLT)
    case .h264, .vp8, .vp9, .av1, nil: throw DecodingError("it is not encoded")
    }
    let (context, codec) = try PacketOutput.context(of: name)
    output = try PacketOutput(context, skipsEnd: true)
    guard let frame = av_frame_alloc() else { throw DecodingError(chatbot_av_no_memory()) }
    self.settings = settings
    self.frame = frame
    context.pointee.sample_rate = Int32(SoundEncoderSettings.rate)
    context.pointee.sample_fmt = format
    context.pointee.bit_rate = Int64(settings.bitrate)
    context.pointee.time_base = AVRational(num: 1, den: Int32(SoundEncoderSettings.rate))
    context.pointee.thread_count = 1
    context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT
    av_channel_layout_default(&context.pointee.ch_layout, Int32(settings.channels))
    let code = avcodec_open2(context, codec, nil)
    if code < 0 { throw PacketOutput.error(code) }
  }

  deinit {
    var frame: UnsafeMutablePointer<AVFrame>? = frame
    av_frame_free(&frame)
  }

  func opened(in memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> TrackEncoderResponse {
    try output.opened(delay: Int(max(0, output.context.pointee.initial_padding)), in: memory)
  }

  /// Encodes samples at the start of the memory.
  func encode(
    count: Int, in memory: UnsafeMutableRawBufferPointer
  ) throws(DecodingError) -> TrackEncoderResponse {
    FFmpegLog.reset()
    guard !output.isWaiting else { throw DecodingError("packets were not taken") }
    let bytes = count * settings.channels * MemoryLayout<Float>.stride
    guard bytes <= TrackEncoderRequest.outputOffset, bytes <= memory.count else {
      throw DecodingError("there is no room for \(count) samples")
    }
    kept.append(contentsOf: UnsafeRawBufferPointer(rebasing: memory[..<bytes]).bindMemory(to: Float.self))
    return try send(isEnd: false, memory)
  }

  func more(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> TrackEncoderResponse {
    try output.packets(into: memory)
  }

  func finish(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> TrackEncoderResponse {
    FFmpegLog.reset()
    return try send(isEnd: true, memory)
  }

  private func send(
    isEnd: Bool, _ memory: UnsafeMutableRawBufferPointer
  ) throws(DecodingError) -> TrackEncoderResponse {
    let channels = settings.channels
    let size = max(1, Int(output.context.pointee.frame_size))
    var room = PacketOutput.PacketRoom(memory)
    var start = 0
    // The packets of a request are smaller than its samples, so there is room for them.
    while kept.count - start >= size * channels || isEnd && kept.count > start {
      let count = min(size, (kept.count - start) / channels)
      guard count > 0 else { break }
      try encode(start, count)
      try output.take(into: &room)
      start += count * channels
    }
    kept.removeFirst(isEnd ? kept.count : start)
    if isEnd {
      let code = avcodec_send_frame(output.context, nil)
      if code < 0, code != chatbot_av_end() { throw PacketOutput.error(code) }
      try output.take(into: &room)
    }
    return room.response(hasMore: output.isWaiting)
  }

  private func encode(_ start: Int, _ count: Int) throws(DecodingError) {
    let channels = settings.channels
    let context = output.context
    av_frame_unref(frame)
    frame.pointee.nb_samples = Int32(count)
    frame.pointee.format = context.pointee.sample_fmt.rawValue
    frame.pointee.sample_rate = context.pointee.sample_rate
    var code = av_channel_layout_copy(&frame.pointee.ch_layout, &context.pointee.ch_layout)
    if code >= 0 { code = av_frame_get_buffer(frame, 0) }
    if code < 0 { throw DecodingError(code) }
    let isPlanar = av_sample_fmt_is_planar(context.pointee.sample_fmt) != 0
    for channel in 0..<(isPlanar ? channels : 1) {
      guard let plane = channel == 0 ? frame.pointee.data.0 : frame.pointee.data.1 else {
        throw DecodingError(chatbot_av_no_memory())
      }
      let values = isPlanar ? count : count * channels
      plane.withMemoryRebound(to: Float.self, capacity: values) { target in
        for index in 0..<values {
          // A value that is no number would end the encoder.
          let value = kept[start + (isPlanar ? index * channels + channel : index)]
          target[index] = value.isFinite ? min(max(value, -1), 1) : 0
        }
      }
    }
    frame.pointee.pts = position
    position += Int64(count)
    code = avcodec_send_frame(context, frame)
    av_frame_unref(frame)
    if code < 0 { throw PacketOutput.error(code) }
  }
}

/// The encoder of a composition.
enum TrackEncoder {
  case video(CompositionVideoEncoder)
  case sound(CompositionSoundEncoder)

  func answer(
    _ request: TrackEncoderRequest, _ memory: UnsafeMutableRawBufferPointer
  ) throws(DecodingError) -> TrackEncoderResponse {
    switch (self, request) {
    case (.video(let encoder), .openVideo): try encoder.opened(in: memory)
    case (.sound(let encoder), .openSound): try encoder.opened(in: memory)
    case (.video(let encoder), .frame(let slot, let number)):
      try encoder.encode(slot: slot, number: number, in: memory)
    case (.sound(let encoder), .samples(let count)): try encoder.encode(count: count, in: memory)
    case (.video(let encoder), .more): try encoder.more(into: memory)
    case (.sound(let encoder), .more): try encoder.more(into: memory)
    case (.video(let encoder), .finish): try encoder.finish(into: memory)
    case (.sound(let encoder), .finish): try encoder.finish(into: memory)
    default: throw DecodingError("it is an encoder of another kind")
    }
  }
}
