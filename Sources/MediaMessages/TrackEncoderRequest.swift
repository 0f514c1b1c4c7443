/// What the encoder of a composition in a worker is asked. There is one in a worker.
package enum TrackEncoderRequest: Sendable, Hashable {
  /// Creates an encoder of video, in place of an earlier one.
  case openVideo(CompositionEncoderSettings)
  /// Creates an encoder of audio, in place of an earlier one.
  case openSound(SoundEncoderSettings)
  /// Encodes a frame of a slot of the shared memory: I420, the planes one after the other without padding.
  ///
  /// - Parameter number: that of the frame; it becomes the packet's time, and grows by 1.
  case frame(slot: UInt8, number: Int64)
  /// Encodes samples at the start of the shared memory: interleaved 32-bit floats of 48 kHz.
  ///
  /// - Parameter count: the samples of each channel.
  case samples(count: Int)
  /// Asks for the packets for which the last response had no room.
  case more
  /// Says that there is nothing more, and asks for what the encoder has kept.
  case finish

  /// The slots for frames: one is written while the encoder reads the other.
  package static let slots: UInt8 = 2
  /// Where the slots and where packets begin in the shared memory.
  package static let slotBytes = 12 << 20
  package static let outputOffset = Int(slots) * slotBytes
  /// The maximum number of pixels of a frame, and of samples of each channel in one request.
  package static let maximumPixels = 3_840 * 2_160
  package static let maximumSamples = 1 << 20

  init(_ cursor: inout MessageCursor) throws(MessageError) {
    switch try cursor.byte() {
    case 1: self = .openVideo(try CompositionEncoderSettings(&cursor))
    case 2: self = .openSound(try SoundEncoderSettings(&cursor))
    case 3:
      let slot = try cursor.byte()
      guard slot < Self.slots else { throw MessageError("there is no slot \(slot)") }
      self = .frame(slot: slot, number: try cursor.time())
    case 4: self = .samples(count: try cursor.number(upTo: Self.maximumSamples))
    case 5: self = .more
    case 6: self = .finish
    default: throw MessageError("there is no such request for an encoder")
    }
  }

  func write(to writer: inout MessageWriter) {
    switch self {
    case .openVideo(let settings):
      writer.byte(1)
      settings.write(to: &writer)
    case .openSound(let settings):
      writer.byte(2)
      settings.write(to: &writer)
    case .frame(let slot, let number):
      writer.byte(3)
      writer.byte(slot)
      writer.time(number)
    case .samples(let count):
      writer.byte(4)
      writer.number(count)
    case .more: writer.byte(5)
    case .finish: writer.byte(6)
    }
  }
}

/// The response of an encoder of a composition.
package enum TrackEncoderResponse: Sendable, Hashable {
  /// The encoder is open. So many bytes of private data are at ``TrackEncoderRequest/outputOffset``.
  ///
  /// - Parameters:
  ///   - frame: the samples of a packet; 0 for video.
  ///   - delay: the decoded samples of each channel at the start that are not heard; 0 for video.
  case opened(privateBytes: Int, frame: Int, delay: Int)
  /// Packets are at ``TrackEncoderRequest/outputOffset``.
  case packets(count: Int, bytes: Int, hasMore: Bool)

  init(_ cursor: inout MessageCursor) throws(MessageError) {
    switch try cursor.byte() {
    case 1:
      self = .opened(
        privateBytes: try cursor.number(upTo: MediaLimits.extradataBytes),
        frame: try cursor.number(upTo: MediaLimits.samples), delay: try cursor.number(upTo: MediaLimits.samples))
    case 2:
      let room = MediaLimits.sharedBytes - TrackEncoderRequest.outputOffset
      self = .packets(
        count: try cursor.number(upTo: room / PacketBatch.headerBytes), bytes: try cursor.number(upTo: room),
        hasMore: try cursor.flag())
    default: throw MessageError("there is no such response of an encoder")
    }
  }

  func write(to writer: inout MessageWriter) {
    switch self {
    case .opened(let privateBytes, let frame, let delay):
      writer.byte(1)
      for number in [privateBytes, frame, delay] { writer.number(number) }
    case .packets(let count, let bytes, let hasMore):
      writer.byte(2)
      writer.number(count)
      writer.number(bytes)
      writer.flag(hasMore)
    }
  }
}
