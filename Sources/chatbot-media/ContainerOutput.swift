import CFFmpeg
import Glibc
import MediaMessages

/// Writes a container by libavformat into a descriptor that another process has opened. Nothing in the file says when or where it was
/// written.
final class ContainerOutput {
  /// How often a full disk is tried again, each second.
  private static let patience: Int32 = 60

  private let settings: ContainerSettings
  private let file: UnsafeMutablePointer<chatbot_av_file>
  private let packet: UnsafeMutablePointer<AVPacket>
  private var context: UnsafeMutablePointer<AVFormatContext>?
  private var isFinished = false

  /// Writes the headers.
  ///
  /// - Parameter descriptor: closed when the output is released, also after an error.
  init(descriptor: Int32, _ settings: ContainerSettings) throws(DecodingError) {
    FFmpegLog.reset()
    file = .allocate(capacity: 1)
    file.initialize(to: chatbot_av_file(descriptor: descriptor, patience: Self.patience, size: 0, error: 0))
    guard let packet = av_packet_alloc() else { throw DecodingError(chatbot_av_no_memory()) }
    self.packet = packet
    self.settings = settings
    var code = chatbot_av_muxer(&context, settings.format.muxer, file)
    if code < 0 { throw error(code) }
    guard let context else { throw DecodingError(chatbot_av_no_memory()) }
    guard !settings.tracks.isEmpty else { throw DecodingError("it has no track") }
    for track in settings.tracks { try add(track, to: context) }
    for chapter in settings.chapters where chapter.end > chapter.start {
      code = chatbot_av_add_chapter(context, chapter.start, chapter.end, chapter.title)
      if code < 0 { throw error(code) }
    }
    if !settings.title.isEmpty { av_dict_set(&context.pointee.metadata, "title", settings.title, 0) }
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    for (name, value) in settings.format.options(settings) { av_dict_set(&options, name, value, 0) }
    code = avformat_write_header(context, &options)
    try check(code)
  }

  deinit {
    if let context {
      // What the muxer has not written yet is not wanted after an error, and would wait for a full disk once more.
      file.pointee.patience = 0
      _ = chatbot_av_file_close(context.pointee.pb)
      context.pointee.pb = nil
      avformat_free_context(context)
    }
    close(file.pointee.descriptor)
    file.deallocate()
    var packet: UnsafeMutablePointer<AVPacket>? = packet
    av_packet_free(&packet)
  }

  private func add(
    _ track: ContainerSettings.Track, to context: UnsafeMutablePointer<AVFormatContext>
  ) throws(DecodingError) {
    guard settings.format.codecs.contains(track.codec) else {
      throw DecodingError("\(settings.format.ending) cannot hold it")
    }
    guard let stream = avformat_new_stream(context, nil), let parameters = stream.pointee.codecpar else {
      throw DecodingError(chatbot_av_no_memory())
    }
    let unit = AVRational(num: Int32(track.unitNumerator), den: Int32(track.unitDenominator))
    stream.pointee.time_base = unit
    parameters.pointee.codec_id = track.codec.identifier(in: settings.format)
    if [ContainerFormat.mp4, .mov].contains(settings.format), let tag = track.codec.isoTag {
      parameters.pointee.codec_tag = tag.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
    switch track.codec.kind {
    case .video:
      parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
      parameters.pointee.width = Int32(track.width)
      parameters.pointee.height = Int32(track.height)
      parameters.pointee.format = AV_PIX_FMT_YUV420P.rawValue
      if track.isBT601 {
        parameters.pointee.color_range = AVCOL_RANGE_MPEG
        parameters.pointee.color_space = AVCOL_SPC_SMPTE170M
        parameters.pointee.color_primaries = AVCOL_PRI_SMPTE170M
        parameters.pointee.color_trc = AVCOL_TRC_SMPTE170M
      }
      // Frames of a recording come at any time; those of a composition each unit.
      if track.unitDenominator <= 1_000 * track.unitNumerator {
        stream.pointee.avg_frame_rate = AVRational(num: unit.den, den: unit.num)
        stream.pointee.r_frame_rate = stream.pointee.avg_frame_rate
      }
      if track.rotation != 0 || track.isMirrored {
        let code = chatbot_av_set_orientation(
          stream, Int32(track.rotation), track.isMirrored ? 1 : 0, Int32(track.width), Int32(track.height))
        if code < 0 { throw DecodingError(code) }
      }
      stream.pointee.disposition = AV_DISPOSITION_DEFAULT
    case .audio:
      parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
      parameters.pointee.sample_rate = Int32(track.sampleRate)
      av_channel_layout_default(&parameters.pointee.ch_layout, Int32(max(1, track.channels)))
      parameters.pointee.frame_size = Int32(track.frame)
      parameters.pointee.initial_padding = Int32(track.delay)
      parameters.pointee.seek_preroll = Int32(track.sampleRate * track.codec.preroll / 1_000)
      parameters.pointee.bits_per_coded_sample = av_get_bits_per_sample(parameters.pointee.codec_id)
      parameters.pointee.block_align =
        parameters.pointee.bits_per_coded_sample * Int32(max(1, track.channels)) / 8
      stream.pointee.disposition = AV_DISPOSITION_DEFAULT
    case .text:
      parameters.pointee.codec_type = AVMEDIA_TYPE_SUBTITLE
      if let video = settings.tracks.first(where: { $0.codec.kind == .video }) {
        parameters.pointee.width = Int32(video.width)
        parameters.pointee.height = Int32(video.height)
      }
    }
    let data = track.codec.kind == .text ? SubtitleText.privateData(in: settings.format) : track.privateData
    if !data.isEmpty {
      guard let start = av_mallocz(data.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
        throw DecodingError(chatbot_av_no_memory())
      }
      start.copyMemory(from: data, byteCount: data.count)
      parameters.pointee.extradata = start.assumingMemoryBound(to: UInt8.self)
      parameters.pointee.extradata_size = Int32(data.count)
    }
    if !track.language.isEmpty { av_dict_set(&stream.pointee.metadata, "language", track.language, 0) }
    if !track.name.isEmpty {
      let isISO = [ContainerFormat.mp4, .m4a, .mov].contains(settings.format)
      av_dict_set(&stream.pointee.metadata, isISO ? "handler_name" : "title", track.name, 0)
    }
  }

  func write(_ packets: [EncodedPacket]) throws(DecodingError) {
    FFmpegLog.reset()
    for packet in packets { try write(packet) }
  }

  private func write(_ given: EncodedPacket) throws(DecodingError) {
    guard let context, !isFinished, given.track < settings.tracks.count,
      let stream = context.pointee.streams[given.track]
    else { throw DecodingError("there is no track \(given.track)") }
    let track = settings.tracks[given.track]
    let bytes = track.codec.kind == .text ? SubtitleText.bytes(given.bytes, in: settings.format) : given.bytes
    var code = av_new_packet(packet, Int32(clamping: bytes.count))
    if code < 0 { throw error(code) }
    defer { av_packet_unref(packet) }
    if !bytes.isEmpty { packet.pointee.data.update(from: bytes, count: bytes.count) }
    packet.pointee.stream_index = Int32(given.track)
    let shift = Int64(settings.format.stated(track) ? track.delay : 0)
    packet.pointee.pts = given.pts &+ shift
    packet.pointee.dts = given.dts &+ shift
    packet.pointee.duration = given.duration
    if given.isKeyframe { packet.pointee.flags |= AV_PKT_FLAG_KEY }
    if given.skipAtEnd > 0 {
      code = chatbot_av_skip_at_end(packet, UInt32(clamping: given.skipAtEnd))
      if code < 0 { throw error(code) }
    }
    av_packet_rescale_ts(
      packet, AVRational(num: Int32(track.unitNumerator), den: Int32(track.unitDenominator)), stream.pointee.time_base)
    code = av_interleaved_write_frame(context, packet)
    try check(code)
  }

  /// Writes the rest, and moves the index to the front.
  func finish() throws(DecodingError) {
    FFmpegLog.reset()
    guard let context, !isFinished else { throw DecodingError("it is finished") }
    isFinished = true
    let code = av_write_trailer(context)
    avio_flush(context.pointee.pb)
    try check(code)
  }

  /// Refuses what a function of FFmpeg returned, or an error of the file that it has not returned.
  private func check(_ code: Int32) throws(DecodingError) {
    if file.pointee.error != 0 { throw error(-file.pointee.error) }
    if code < 0 { throw error(code) }
    if let io = context?.pointee.pb, io.pointee.error < 0 { throw error(io.pointee.error) }
  }

  private func error(_ code: Int32) -> DecodingError {
    switch file.pointee.error {
    case 0: PacketOutput.error(code)
    case ENOSPC: DecodingError(ContainerFailure.fullDisk)
    case let number: DecodingError(String(cString: strerror(number)))
    }
  }
}

extension ContainerFormat {
  /// Whether players subtract a delay from the times of a track: Matroska has it beside the times, MP4 in an edit list, which the muxer
  /// derives from the times.
  fileprivate func stated(_ track: ContainerSettings.Track) -> Bool {
    switch self {
    case .mkv, .webm: track.codec.preroll > 0
    case .mp4, .mov, .m4a, .ogg, .wav: false
    }
  }

  /// The muxer's name in libavformat.
  fileprivate var muxer: String {
    switch self {
    case .mp4: "mp4"
    case .mov: "mov"
    case .webm: "webm"
    case .mkv: "matroska"
    case .m4a: "ipod"
    case .ogg: "ogg"
    case .wav: "wav"
    }
  }

  fileprivate func options(_ settings: ContainerSettings) -> [(String, String)] {
    // The colours are stated if they are known.
    let index = [("movflags", settings.hasIndexInFront ? "+write_colr+faststart" : "+write_colr")]
    switch self {
    // QuickTime and the phones of Apple look for a brand that they know.
    case .mp4: return index + [("brand", "mp42")]
    case .mov: return index + [("write_tmcd", "0")]
    case .m4a: return index
    case .webm, .mkv, .ogg: return []
    case .wav: return [("rf64", "auto")]
    }
  }
}

extension TrackCodec {
  /// The codec in FFmpeg; that of text depends on the container.
  func identifier(in format: ContainerFormat) -> AVCodecID {
    guard let name else { return SubtitleText.identifier(in: format) }
    return avcodec_descriptor_get_by_name(name)?.pointee.id ?? AV_CODEC_ID_NONE
  }
}
