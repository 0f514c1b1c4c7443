package import MediaMessages

/// Writes a container in a worker of its own, which gets the descriptor of the open file, because it can open none.
///
/// Where a disk is full, the worker tries again for ``fullDiskPatience`` seconds. The writer is used by one thread that may wait. After
/// an error it is of no use, and the file is not complete.
package final class ContainerWriter {
  /// How long the worker waits for room on a full disk, in seconds.
  package static let fullDiskPatience = 60
  /// So many bytes of packets are written at once.
  private static let batchBytes = 1 << 20

  private let worker: MediaWorker
  private let generation: Int
  private let batch: UnsafeMutableRawBufferPointer
  private var count = 0
  private var bytes = 0
  private let trackCount: Int

  /// Starts a worker, which writes the headers.
  ///
  /// - Parameter descriptor: of an empty regular file, open for reading and writing; it stays ours.
  package init(
    descriptor: Int32, _ settings: ContainerSettings, launcher: MediaLauncher = .foreground
  ) throws(MediaWorkerError) {
    worker = MediaWorker(launcher, for: .writing)
    let encoded = settings.encoded
    guard encoded.count <= MediaLimits.sharedBytes else { throw .refused("its chapters are too long") }
    generation = try worker.perform(
      .container(.open(bytes: encoded.count)), with: [descriptor], write: { $0.copyBytes(from: encoded) },
      { response, _ in if case .done = response { true } else { nil } }
    ).1
    trackCount = settings.tracks.count
    batch = .allocate(byteCount: Self.batchBytes + MediaLimits.packetBytes, alignment: 16)
  }

  deinit { batch.deallocate() }

  /// The process id of the worker; nil after its end.
  package var id: Int32? { worker.id }

  /// Writes a packet. Those of a track come in the order of decoding, and those of all tracks about in the order of time: the worker
  /// keeps what is ahead.
  ///
  /// - Parameter track: the index of the track in the settings.
  package func write(_ packet: EncodedPacket, track: Int) throws(MediaWorkerError) {
    guard (0..<trackCount).contains(track) else { throw .refused("there is no track \(track)") }
    guard packet.bytes.count <= MediaLimits.packetBytes - PacketBatch.headerBytes else {
      throw .refused("a packet has \(packet.bytes.count) bytes")
    }
    var packet = packet
    packet.track = track
    let isWritten = packet.bytes.withUnsafeBytes { PacketBatch.write(packet, $0, to: batch, at: &bytes) }
    guard isWritten else { throw .refused("there is no room for a packet") }
    count += 1
    if bytes >= Self.batchBytes { try flush() }
  }

  /// Writes a subtitle.
  ///
  /// - Parameters:
  ///   - start: in milliseconds from the start of the file, not before that of the last one.
  ///   - duration: in milliseconds.
  package func write(subtitle text: String, start: Int64, duration: Int64, track: Int) throws(MediaWorkerError) {
    try write(
      EncodedPacket(pts: start, dts: start, duration: duration, isKeyframe: true, bytes: Array(text.utf8)),
      track: track)
  }

  /// Writes the rest of the file, and moves its index to the front if the settings say so.
  package func finish() throws(MediaWorkerError) {
    try flush()
    try perform(.finish)
  }

  private func flush() throws(MediaWorkerError) {
    guard count > 0 else { return }
    let request = ContainerRequest.write(count: count, bytes: bytes)
    let written = UnsafeRawBufferPointer(rebasing: batch[..<bytes])
    (count, bytes) = (0, 0)
    try perform(request) { $0.copyMemory(from: written) }
  }

  private func perform(
    _ request: ContainerRequest, write: (UnsafeMutableRawBufferPointer) -> Void = { _ in }
  ) throws(MediaWorkerError) {
    _ = try worker.perform(.container(request), of: generation, write: write) { response, _ in
      if case .done = response { true } else { nil }
    }
  }
}

extension MediaWorkerError {
  /// Whether a container was not written because the disk had no room.
  package var isFullDisk: Bool { self == .refused(Self.fullDisk) }

  static let fullDisk = ContainerFailure.fullDisk
}
