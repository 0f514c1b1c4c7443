import CFFmpeg
import MediaMessages

/// Takes packets from an encoder and writes them into the shared memory, as many as there is room for.
final class PacketOutput {
  let context: UnsafeMutablePointer<AVCodecContext>
  private let packet: UnsafeMutablePointer<AVPacket>
  /// Whether `packet` has one that there was no room for.
  private var hasPacket = false
  private let skipsEnd: Bool

  /// - Parameter context: released with the output.
  init(_ context: UnsafeMutablePointer<AVCodecContext>, skipsEnd: Bool) throws(DecodingError) {
    guard let packet = av_packet_alloc() else { throw DecodingError(chatbot_av_no_memory()) }
    self.context = context
    self.packet = packet
    self.skipsEnd = skipsEnd
  }

  deinit {
    var (context, packet): (UnsafeMutablePointer<AVCodecContext>?, UnsafeMutablePointer<AVPacket>?) = (context, packet)
    av_packet_free(&packet)
    avcodec_free_context(&context)
  }

  /// Whether there are packets that must be taken before there is another frame.
  var isWaiting: Bool { hasPacket }

  /// - Parameter privateData: that of the encoder by default.
  func opened(
    delay: Int, privateData: [UInt8]? = nil, in memory: UnsafeMutableRawBufferPointer
  ) throws(DecodingError) -> TrackEncoderResponse {
    let data = privateData ?? self.privateData
    let start = TrackEncoderRequest.outputOffset
    guard data.count <= MediaLimits.extradataBytes, start + data.count <= memory.count else {
      throw DecodingError("its private data has \(data.count) bytes")
    }
    UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + data.count]).copyBytes(from: data)
    return .opened(
      privateBytes: data.count, frame: delay == 0 ? 0 : Int(max(0, context.pointee.frame_size)), delay: delay)
  }

  private var privateData: [UInt8] {
    guard let data = context.pointee.extradata, context.pointee.extradata_size > 0 else { return [] }
    return Array(UnsafeBufferPointer(start: data, count: Int(context.pointee.extradata_size)))
  }

  /// The private data that comes with the first packet only: what some encoders know of a stream they say then.
  func privateDataOfPacket() throws(DecodingError) -> [UInt8] {
    let code = avcodec_receive_packet(context, packet)
    if code < 0 { throw Self.error(code) }
    defer { av_packet_unref(packet) }
    var size = 0
    guard let data = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0 else {
      return privateData
    }
    return Array(UnsafeBufferPointer(start: data, count: size))
  }

  func packets(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> TrackEncoderResponse {
    var all = PacketRoom(memory)
    try take(into: &all)
    return all.response(hasMore: hasPacket)
  }

  /// Packets are behind each other in the shared memory.
  struct PacketRoom {
    fileprivate let memory: UnsafeMutableRawBufferPointer
    fileprivate var end = 0
    fileprivate var count = 0

    init(_ shared: UnsafeMutableRawBufferPointer) {
      memory = UnsafeMutableRawBufferPointer(rebasing: shared[TrackEncoderRequest.outputOffset...])
    }

    func response(hasMore: Bool) -> TrackEncoderResponse { .packets(count: count, bytes: end, hasMore: hasMore) }
  }

  /// Takes packets until the encoder wants another frame, has ended, or there is no room.
  func take(into room: inout PacketRoom) throws(DecodingError) {
    while true {
      if !hasPacket {
        let code = avcodec_receive_packet(context, packet)
        if code == chatbot_av_again() || code == chatbot_av_end() { return }
        if code < 0 { throw Self.error(code) }
        hasPacket = true
      }
      let size = Int(packet.pointee.size)
      guard let data = packet.pointee.data, (1...MediaLimits.packetBytes).contains(size) else {
        throw DecodingError("an encoded frame has \(size) bytes")
      }
      let isWritten = PacketBatch.write(
        described, UnsafeRawBufferPointer(start: data, count: size), to: room.memory, at: &room.end)
      guard isWritten else {
        guard room.count > 0 else { throw DecodingError("there is no room for a frame of \(size) bytes") }
        return
      }
      room.count += 1
      hasPacket = false
      av_packet_unref(packet)
    }
  }

  private var described: EncodedPacket {
    let pts = packet.pointee.pts == Int64.min ? packet.pointee.dts : packet.pointee.pts
    let dts = packet.pointee.dts == Int64.min ? pts : packet.pointee.dts
    var skips: [UInt32] = [0, 0]
    chatbot_av_skipped_samples(packet, &skips)
    var duration = max(0, packet.pointee.duration)
    if skipsEnd {
      let frame = Int64(context.pointee.frame_size)
      if skips[1] == 0, duration > 0, duration < frame { skips[1] = UInt32(frame - duration) }
    } else {
      // One frame.
      duration = 1
    }
    return EncodedPacket(
      pts: pts, dts: dts, duration: duration, isKeyframe: packet.pointee.flags & AV_PKT_FLAG_KEY != 0,
      skipAtEnd: Int(min(skips[1], UInt32(MediaLimits.samples))), bytes: [])
  }

  static func error(_ code: Int32) -> DecodingError {
    let found = DecodingError(code)
    guard let text = FFmpegLog.error else { return found }
    return DecodingError("\(found.reason): \(text)")
  }

  /// Returns an encoder that is not open yet.
  static func context(
    of name: String
  ) throws(DecodingError) -> (context: UnsafeMutablePointer<AVCodecContext>, codec: UnsafePointer<AVCodec>) {
    FFmpegLog.reset()
    guard let codec = avcodec_find_encoder_by_name(name) else { throw DecodingError("this FFmpeg has no \(name)") }
    guard let context = avcodec_alloc_context3(codec) else { throw DecodingError(chatbot_av_no_memory()) }
    return (context, codec)
  }
}
