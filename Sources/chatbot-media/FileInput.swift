import CFFmpeg
import Glibc
import MediaMessages

/// Reads the tracks of a file by libavformat, from a descriptor that another process has opened.
final class FileInput {
  /// The descriptor and the position of the next byte.
  private final class Source {
    let descriptor: Int32
    let size: Int64
    var position: Int64 = 0

    init(descriptor: Int32, size: Int64) {
      self.descriptor = descriptor
      self.size = size
    }

    deinit { Glibc.close(descriptor) }

    func read(_ buffer: UnsafeMutablePointer<UInt8>, _ count: Int32) -> Int32 {
      let wanted = min(Int64(count), size - position)
      guard wanted > 0 else { return chatbot_av_end() }
      var got: Int
      repeat { got = pread(descriptor, buffer, Int(wanted), off_t(position)) } while got < 0 && errno == EINTR
      guard got > 0 else { return got < 0 ? -errno : chatbot_av_end() }
      position += Int64(got)
      return Int32(got)
    }

    func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
      if whence & chatbot_av_seek_size() != 0 { return size }
      let base: Int64
      switch whence & 0xff {
      case SEEK_SET: base = 0
      case SEEK_CUR: base = position
      case SEEK_END: base = size
      default: return Int64(-EINVAL)
      }
      let (target, overflow) = base.addingReportingOverflow(offset)
      guard !overflow, target >= 0 else { return Int64(-EINVAL) }
      position = target
      return target
    }
  }

  /// The demuxers that may run, by their names in libavformat.
  private static let formats =
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mp3,aac,flac,ogg,wav,w64,avi,mpegts,ivf,png_pipe,apng"
  private static let bufferBytes = 64 << 10
  /// How much is read to find out what a file has, in bytes and in microseconds of it.
  private static let probeBytes = 5 << 20
  private static let probeMicroseconds = 5_000_000

  private let source: Source
  private let packet: UnsafeMutablePointer<AVPacket>
  private var io: UnsafeMutablePointer<AVIOContext>?
  private var context: UnsafeMutablePointer<AVFormatContext>?
  /// Whether the file was opened before, so that what its tracks have is known.
  private var isKnown = false
  /// The channels of what is decoded of each track, 1 or 2; the same each time that the track is read.
  private var channels: [Int] = []
  /// Whether nothing was read behind the headers.
  private var isAtStart = false
  private var track: Track?
  /// Whether `packet` has a packet that has not been returned.
  private var hasPacket = false

  /// The track that is read.
  private struct Track {
    let stream: UnsafeMutablePointer<AVStream>
    let decoder: FileTrackDecoder?
    var hasEnded = false
  }

  /// Opens the file and reads its headers.
  ///
  /// - Parameter descriptor: closed when the input is released, also after an error.
  init(descriptor: Int32, size: UInt64) throws(DecodingError) {
    source = Source(descriptor: descriptor, size: Int64(clamping: size))
    guard let packet = av_packet_alloc() else { throw DecodingError(chatbot_av_no_memory()) }
    self.packet = packet
    try open()
  }

  deinit {
    close()
    var packet: UnsafeMutablePointer<AVPacket>? = packet
    av_packet_free(&packet)
  }

  private func open() throws(DecodingError) {
    FFmpegLog.reset()
    source.position = 0
    let buffer = av_malloc(Self.bufferBytes)?.assumingMemoryBound(to: UInt8.self)
    io = avio_alloc_context(
      buffer, Int32(Self.bufferBytes), 0, Unmanaged.passUnretained(source).toOpaque(),
      { opaque, buffer, count in
        guard let opaque, let buffer else { return chatbot_av_end() }
        return Unmanaged<Source>.fromOpaque(opaque).takeUnretainedValue().read(buffer, count)
      }, nil,
      { opaque, offset, whence in
        guard let opaque else { return -1 }
        return Unmanaged<Source>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
      })
    context = avformat_alloc_context()
    guard let io, let context else { throw DecodingError(chatbot_av_no_memory()) }
    context.pointee.pb = io
    context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    context.pointee.probesize = Int64(Self.probeBytes)
    context.pointee.max_analyze_duration = Int64(Self.probeMicroseconds)
    context.pointee.max_streams = Int32(MediaLimits.tracks)
    av_opt_set(context, "format_whitelist", Self.formats, 0)
    av_opt_set(context, "codec_whitelist", FileTrackDecoder.names, 0)
    // Files that a file names are not opened: the sandbox cannot, and nobody asked for them.
    av_opt_set(context, "protocol_whitelist", "none", 0)
    // It frees the context after an error.
    var code = avformat_open_input(&self.context, nil, nil, nil)
    if code < 0 { throw Self.error(code) }
    // The headers of the other formats say less.
    let saysAll = ["mov,", "matroska,"].contains { String(cString: context.pointee.iformat.pointee.name).hasPrefix($0) }
    if !isKnown || !saysAll { code = avformat_find_stream_info(context, nil) }
    if code < 0 { throw Self.error(code) }
    swapBytes()
    if !isKnown {
      channels = (0..<count).map { index in
        Int(min(2, max(1, stream(index)?.pointee.codecpar.pointee.ch_layout.nb_channels ?? 1)))
      }
    }
    isKnown = true
    for index in 0..<count { stream(index)?.pointee.discard = AVDISCARD_ALL }
    isAtStart = true
  }

  /// FFmpeg takes the samples of RIFX, a WAV file whose numbers begin with the high byte, for those of RIFF.
  private func swapBytes() {
    var mark: [UInt8] = [0, 0, 0, 0]
    guard pread(source.descriptor, &mark, 4, 0) == 4, mark.elementsEqual("RIFX".utf8) else { return }
    let twins = [
      AV_CODEC_ID_PCM_S16LE: AV_CODEC_ID_PCM_S16BE, AV_CODEC_ID_PCM_S24LE: AV_CODEC_ID_PCM_S24BE,
      AV_CODEC_ID_PCM_S32LE: AV_CODEC_ID_PCM_S32BE, AV_CODEC_ID_PCM_F32LE: AV_CODEC_ID_PCM_F32BE,
      AV_CODEC_ID_PCM_F64LE: AV_CODEC_ID_PCM_F64BE,
    ]
    for index in 0..<count {
      guard let parameters = stream(index)?.pointee.codecpar else { continue }
      parameters.pointee.codec_id = twins[parameters.pointee.codec_id] ?? parameters.pointee.codec_id
    }
  }

  private func close() {
    hasPacket = false
    track = nil
    av_packet_unref(packet)
    avformat_close_input(&context)
    if let io { av_freep(&io.pointee.buffer) }
    avio_context_free(&io)
  }

  /// The reason of an error, in the words of a person who has the file.
  private static func error(_ code: Int32) -> DecodingError {
    let logged = FFmpegLog.error ?? ""
    if logged.contains("moov atom not found") { return DecodingError("it is truncated: its index (moov) is missing") }
    let found = DecodingError(code)
    return logged.isEmpty ? found : DecodingError("\(found.reason): \(logged)")
  }

  private var count: Int { Int(context?.pointee.nb_streams ?? 0) }

  private func stream(_ index: Int) -> UnsafeMutablePointer<AVStream>? {
    guard let context, index < count else { return nil }
    return context.pointee.streams[index]
  }

  // MARK: What the headers say

  var description: FileDescription {
    var description = FileDescription(format: format)
    for index in 0..<min(count, MediaLimits.tracks) {
      guard let stream = stream(index), let parameters = stream.pointee.codecpar else { continue }
      description.tracks.append(Self.track(stream, parameters))
      let entries = avformat_index_get_entries_count(stream)
      if entries > 0, let last = avformat_index_get_entry(stream, entries - 1),
        last.pointee.pos &+ Int64(chatbot_av_index_entry_size(last)) > source.size
      {
        description.isTruncated = true
      }
    }
    return description
  }

  private var format: String {
    guard let context, let name = context.pointee.iformat?.pointee.name else { return "" }
    let first = String(cString: name).split(separator: ",").first.map(String.init) ?? ""
    guard first == "mov" else { return first }
    var brand = ""
    if let entry = av_dict_get(context.pointee.metadata, "major_brand", nil, 0), let value = entry.pointee.value {
      brand = String(cString: value)
    }
    return brand.isEmpty || brand.hasPrefix("qt") ? "mov" : brand.hasPrefix("M4A") ? "m4a" : "mp4"
  }

  private static func track(
    _ stream: UnsafeMutablePointer<AVStream>, _ parameters: UnsafeMutablePointer<AVCodecParameters>
  ) -> FileDescription.Track {
    let isPicture = stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
    let kind: FileDescription.Track.Kind =
      switch parameters.pointee.codec_type {
      case AVMEDIA_TYPE_VIDEO where !isPicture: .video
      case AVMEDIA_TYPE_AUDIO: .audio
      default: .other
      }
    let identifier = parameters.pointee.codec_id
    let name =
      identifier == AV_CODEC_ID_NONE
      ? fourCC(parameters.pointee.codec_tag) : String(cString: avcodec_get_name(identifier))
    var track = FileDescription.Track(kind: kind, codec: name)
    track.isDecodable = FileTrackDecoder.name(of: identifier) != nil
    track.isEncrypted =
      ["encv", "enca", "drmi", "drms"].contains(fourCC(parameters.pointee.codec_tag))
      || chatbot_av_is_encrypted(stream) != 0
    let orientation = chatbot_av_orientation(stream)
    track.rotation = Int(orientation & 0xfff)
    track.isMirrored = orientation & 0x1000 != 0
    track.width = Int(max(0, parameters.pointee.width))
    track.height = Int(max(0, parameters.pointee.height))
    track.sampleRate = Int(max(0, parameters.pointee.sample_rate))
    track.channels = Int(max(0, parameters.pointee.ch_layout.nb_channels))
    if identifier == AV_CODEC_ID_OPUS { track.preSkip = Int(min(48_000, max(0, parameters.pointee.initial_padding))) }
    let size = Int(parameters.pointee.extradata_size)
    if let extradata = parameters.pointee.extradata, (1...MediaLimits.extradataBytes).contains(size) {
      track.extradata = Array(UnsafeBufferPointer(start: extradata, count: size))
    }
    return track
  }

  private static func fourCC(_ tag: UInt32) -> String {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: tag >> (8 * $0)) }
    return bytes.allSatisfy { (0x20...0x7E).contains($0) } ? String(decoding: bytes, as: UTF8.self) : ""
  }

  // MARK: Reading a track

  /// Selects the track that is read from now on, from its start.
  func select(_ index: Int) throws(DecodingError) {
    // Opening it again is exact for each format, which seeking is not.
    if !isAtStart {
      close()
      try open()
    }
    guard let stream = stream(index) else { throw DecodingError("there is no track \(index)") }
    for other in 0..<count { self.stream(other)?.pointee.discard = other == index ? AVDISCARD_DEFAULT : AVDISCARD_ALL }
    let channels = index < channels.count ? channels[index] : 1
    track = Track(stream: stream, decoder: try? FileTrackDecoder(stream, channels: channels))
  }

  /// Reads the next packets as far as they fit into the memory.
  func packets(
    wantsBytes: Bool, into memory: UnsafeMutableRawBufferPointer
  ) throws(DecodingError) -> FileResponse {
    guard let track else { throw DecodingError("no track is selected") }
    FFmpegLog.reset()
    var packets: [FilePackets.Packet] = []
    var end = 0
    var read = 0
    var isEnd = false
    let room = memory.count - (MediaLimits.packets + 1) * FilePackets.Packet.entryBytes - 4
    while packets.count < MediaLimits.packets {
      guard try next() else {
        isEnd = true
        break
      }
      let size = Int(packet.pointee.size)
      if wantsBytes, size > room - end {
        guard end == 0 else { break }
        throw DecodingError("a frame has \(size) bytes")
      }
      hasPacket = false
      defer { av_packet_unref(packet) }
      guard size > 0, let data = packet.pointee.data else { continue }
      guard size <= MediaLimits.frameBytes else {
        throw DecodingError("a frame has \(size) bytes, and \(MediaLimits.frameBytes) are the maximum")
      }
      packets.append(describe(packet, of: track.stream, offset: wantsBytes ? end : 0))
      if wantsBytes {
        UnsafeMutableRawBufferPointer(rebasing: memory[end..<end + size]).copyMemory(
          from: UnsafeRawBufferPointer(start: data, count: size))
        end += size
      }
      // A response is no longer than it needs to be, and does not take long.
      read += size
      if read >= (wantsBytes ? Self.batchBytes : Self.readBytes) { break }
    }
    let table = FilePackets(packets).encoded
    UnsafeMutableRawBufferPointer(rebasing: memory[end..<end + table.count]).copyBytes(from: table)
    return .packets(bytes: end + table.count, isEnd: isEnd)
  }

  /// So many bytes end a response of packets, and one that has only their times.
  private static let batchBytes = 1 << 20
  private static let readBytes = 16 << 20

  /// Reads and decodes up to the next frame or audio of the track.
  func decode(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> FileResponse {
    guard var track, let decoder = track.decoder else { throw DecodingError("the codec of the track is not decoded") }
    FFmpegLog.reset()
    while true {
      if let response = try decoder.receive(into: memory) { return response }
      if track.hasEnded { return .end }
      guard try next() else {
        track.hasEnded = true
        self.track = track
        decoder.finish()
        continue
      }
      hasPacket = false
      defer { av_packet_unref(packet) }
      if let failure = decoder.send(packet) { return failure }
    }
  }

  /// Reads the next packet of the track, unless there is one.
  ///
  /// - Returns: false at the end.
  private func next() throws(DecodingError) -> Bool {
    if hasPacket { return true }
    guard let context, let track else { return false }
    isAtStart = false
    while true {
      let code = av_read_frame(context, packet)
      if code == chatbot_av_end() || code == chatbot_av_invalid() { return false }
      if code < 0 { throw Self.error(code) }
      // What is cut off at the end of a file is no whole frame, but whole samples if each is coded for itself.
      let isWhole =
        packet.pointee.flags & AV_PKT_FLAG_CORRUPT == 0
        || av_get_exact_bits_per_sample(track.stream.pointee.codecpar.pointee.codec_id) > 0
      if isWhole, packet.pointee.stream_index == track.stream.pointee.index {
        hasPacket = true
        return true
      }
      av_packet_unref(packet)
    }
  }

  private func describe(
    _ packet: UnsafeMutablePointer<AVPacket>, of stream: UnsafeMutablePointer<AVStream>, offset: Int
  ) -> FilePackets.Packet {
    let base = stream.pointee.time_base
    let time = packet.pointee.pts == Int64.min ? packet.pointee.dts : packet.pointee.pts
    var skips: [UInt32] = [0, 0]
    chatbot_av_skipped_samples(packet, &skips)
    let rate = Int64(max(1, stream.pointee.codecpar.pointee.sample_rate))
    func units(_ samples: UInt32) -> Int64 { Int64(samples) * Int64(MediaLimits.timeRate) / rate }
    return FilePackets.Packet(
      time: Self.units(time, base), duration: Self.units(packet.pointee.duration, base) ?? 0,
      isKeyframe: packet.pointee.flags & AV_PKT_FLAG_KEY != 0,
      isDiscarded: packet.pointee.flags & AV_PKT_FLAG_DISCARD != 0,
      isEncrypted: chatbot_av_packet_is_encrypted(packet) != 0, skipAtStart: units(skips[0]),
      skipAtEnd: units(skips[1]),
      size: Int(packet.pointee.size), offset: offset)
  }

  /// Converts a time to units of ``MediaLimits/timeRate``; nil for an unknown one.
  static func units(_ time: Int64, _ base: AVRational) -> Int64? {
    if time == Int64.min { return nil }
    return av_rescale_q(time, base, AVRational(num: 1, den: Int32(MediaLimits.timeRate)))
  }
}
