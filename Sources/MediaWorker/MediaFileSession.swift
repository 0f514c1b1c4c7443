package import MediaMessages

/// A file that a worker of its own reads: what it has, its packets, and its decoded frames.
///
/// The worker gets the descriptor of the open file, because it can open none. It reads with `pread`, so that any number of sessions can
/// share a descriptor. Each call waits for the worker: it is used by one thread that may wait.
package final class MediaFileSession {
  /// What the file's headers say.
  package let description: FileDescription
  private let worker: MediaWorker
  private let generation: Int

  /// Starts a worker, and reads the headers.
  ///
  /// - Parameters:
  ///   - descriptor: of a regular file; it stays ours.
  ///   - size: the bytes of the file that are read.
  package init(
    descriptor: Int32, size: UInt64, launcher: MediaLauncher = .foreground
  ) throws(MediaWorkerError) {
    worker = MediaWorker(launcher)
    (description, generation) = try worker.perform(.file(.open(bytes: size)), with: [descriptor]) { response, memory in
      guard case .file(.described(let bytes)) = response, bytes <= memory.count else { return nil }
      return try? FileDescription(parsing: UnsafeRawBufferPointer(rebasing: memory[..<bytes]))
    }
  }

  /// Selects the track that is read from now on, and goes back to its start.
  package func select(_ track: Int) throws(MediaWorkerError) {
    _ = try ask(.select(track: track)) { response, _ in
      if case .done = response { true } else { nil }
    }
  }

  /// Returns the next packets of the track.
  ///
  /// - Parameters:
  ///   - wantsBytes: whether the packets' own bytes are needed, and not only their times.
  ///   - take: takes the bytes of each packet; they are empty without `wantsBytes`.
  /// - Returns: false at the end of the track.
  package func packets(
    wantsBytes: Bool, _ take: (FilePackets.Packet, UnsafeRawBufferPointer) -> Void
  ) throws(MediaWorkerError) -> Bool {
    try ask(.packets(wantsBytes: wantsBytes)) { response, memory in
      guard case .file(.packets(let bytes, let isEnd)) = response, bytes <= memory.count,
        let packets = try? FilePackets(parsing: UnsafeRawBufferPointer(rebasing: memory[..<bytes]))
      else { return nil }
      // A response without packets would be asked for again and again.
      guard isEnd || !packets.packets.isEmpty,
        !wantsBytes || packets.packets.allSatisfy({ $0.offset + $0.size <= bytes })
      else { return nil }
      for packet in packets.packets {
        let part = wantsBytes ? packet.offset..<packet.offset + packet.size : 0..<0
        take(packet, UnsafeRawBufferPointer(rebasing: memory[part]))
      }
      return !isEnd
    }
  }

  /// Reads and decodes up to the next frame or audio of the track.
  ///
  /// - Parameter read: reads what the response describes in the shared memory. The worker may change it at any time: each value is
  ///   to be read once. It returns nil for a response that makes no sense.
  package func decode<Result>(
    _ read: (FileResponse, UnsafeRawBufferPointer) -> Result?
  ) throws(MediaWorkerError) -> Result {
    try ask(.decode) { response, memory in
      guard case .file(let response) = response else { return nil }
      return read(response, memory)
    }
  }

  private func ask<Result>(
    _ request: FileRequest, _ read: (MediaResponse.Body, UnsafeRawBufferPointer) -> Result?
  ) throws(MediaWorkerError) -> Result {
    try worker.perform(.file(request), of: generation, read).0
  }
}
