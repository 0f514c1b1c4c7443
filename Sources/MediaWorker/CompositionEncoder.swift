package import MediaMessages

/// Encodes the frames of a composition in a worker of its own, which works on a frame while the caller makes the next one.
///
/// Frames are reordered, so that a call returns any number of packets. The encoder is used by one thread that may wait. After an error
/// it is of no use: the caller begins again with another one, from the start of a closed group of pictures.
package final class CompositionEncoder {
  package let settings: CompositionEncoderSettings
  /// What a decoder needs before the first packet. It depends on the settings only.
  package let privateData: [UInt8]
  private let worker: MediaWorker
  private let generation: Int
  private var slot: UInt8 = 0
  private var isFinished = false

  /// Starts a worker.
  package init(
    _ settings: CompositionEncoderSettings, launcher: MediaLauncher = .foreground
  ) throws(MediaWorkerError) {
    self.settings = settings
    worker = MediaWorker(launcher, for: .encoding)
    let opened = try worker.perform(.trackEncoder(.openVideo(settings))) { response, memory in
      TrackOpening(response, memory)
    }
    (privateData, generation) = (opened.0.privateData, opened.generation)
  }

  /// The process id of the worker; nil after its end.
  package var id: Int32? { worker.id }

  /// The CPU time that encoding has taken.
  package var processorTime: Duration { worker.processorTime }

  /// Encodes a frame. The encoder works on it after the return.
  ///
  /// - Parameters:
  ///   - number: of the frame, which becomes its time; it grows by 1, from any start. The first frame, and each one of which the number
  ///     is the first plus a multiple of the settings' distance, is a keyframe or comes after a keyframe in between.
  ///   - write: writes the planes of the frame, I420 one after the other without padding, into memory of the settings' `frameBytes`.
  ///     What the memory has is not defined.
  /// - Returns: packets of earlier frames, in the order of decoding. Their times are numbers of frames.
  package func encode(
    frame number: Int64, _ write: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(MediaWorkerError) -> [EncodedPacket] {
    let start = Int(slot) * TrackEncoderRequest.slotBytes
    let range = start..<start + settings.frameBytes
    // The encoder reads the other slot meanwhile.
    try worker.withMemory(of: generation) { memory in
      write(UnsafeMutableRawBufferPointer(rebasing: memory[range]))
    }
    let packets = try collect()
    try worker.submit(.trackEncoder(.frame(slot: slot, number: number)), of: generation) { _ in }
    slot = (slot + 1) % TrackEncoderRequest.slots
    return packets
  }

  /// Encodes what the encoder has kept.
  ///
  /// - Returns: the rest of the packets.
  package func finish() throws(MediaWorkerError) -> [EncodedPacket] {
    guard !isFinished else { return [] }
    isFinished = true
    var packets = try collect()
    packets += try worker.packets(of: .finish, generation)
    return packets
  }

  private func collect() throws(MediaWorkerError) -> [EncodedPacket] {
    let read = try worker.collect(of: generation) { response, memory in PacketReading(response, memory) }
    guard let read else { return [] }
    return read.hasMore ? read.packets + (try worker.packets(of: .more, generation)) : read.packets
  }
}

/// What an encoder says when it is open.
struct TrackOpening {
  let privateData: [UInt8]
  let frame: Int
  let delay: Int

  /// Nil for a response that makes no sense.
  init?(_ response: MediaResponse.Body, _ memory: UnsafeRawBufferPointer) {
    guard case .trackEncoder(.opened(let bytes, let frame, let delay)) = response,
      TrackEncoderRequest.outputOffset + bytes <= memory.count
    else { return nil }
    privateData = Array(memory[TrackEncoderRequest.outputOffset..<TrackEncoderRequest.outputOffset + bytes])
    self.frame = frame
    self.delay = delay
  }
}

/// The packets of a response.
struct PacketReading {
  let packets: [EncodedPacket]
  let hasMore: Bool

  /// Nil for a response that makes no sense.
  init?(_ response: MediaResponse.Body, _ memory: UnsafeRawBufferPointer) {
    let start = TrackEncoderRequest.outputOffset
    guard case .trackEncoder(.packets(let count, let bytes, let hasMore)) = response, start + bytes <= memory.count,
      // Otherwise it would be asked for again and again.
      count > 0 || !hasMore,
      let packets = try? PacketBatch.read(count, from: UnsafeRawBufferPointer(rebasing: memory[start..<start + bytes]))
    else { return nil }
    self.packets = packets
    self.hasMore = hasMore
  }
}

extension MediaWorker {
  /// Asks an encoder, and for what its responses had no room for.
  ///
  /// - Parameter write: writes what the request needs into the shared memory.
  func packets(
    of request: TrackEncoderRequest, _ generation: Int, write: (UnsafeMutableRawBufferPointer) -> Void = { _ in }
  ) throws(MediaWorkerError) -> [EncodedPacket] {
    var read = try perform(.trackEncoder(request), of: generation, write: write) { response, memory in
      PacketReading(response, memory)
    }.0
    var packets = read.packets
    while read.hasMore {
      read = try perform(.trackEncoder(.more), of: generation) { response, memory in PacketReading(response, memory) }.0
      packets += read.packets
    }
    return packets
  }
}
