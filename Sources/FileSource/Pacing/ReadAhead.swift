import Media
import NIOCore

/// Reads a file's tracks on a thread of its own, round after round.
actor ReadAhead {
  /// Frames read at once, and whether the track's end was reached behind them.
  struct Batch: Sendable {
    var frames: [FileFrame] = []
    var endsRound = false
  }

  private let file: MediaFile
  private let thread = ReadingThread(name: "file reader")
  private var readers: [MediaKind: (reader: TrackReader, count: Int)] = [:]

  /// A batch is complete with so many frames or bytes.
  private static let maximumBatch = 64
  private static let maximumBatchBytes = 1 << 20

  init(_ file: MediaFile) {
    self.file = file
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  /// The next frames of a track; after its end those from its start again.
  func read(_ kind: MediaKind) throws(MediaFile.ReadError) -> Batch {
    guard let track = file.track(kind) else { return Batch(endsRound: true) }
    var (reader, count) =
      if let open = readers[kind] { open } else { (try file.reader(of: track), 0) }
    var batch = Batch()
    var bytes = 0
    while !batch.endsRound, batch.frames.count < Self.maximumBatch, bytes < Self.maximumBatchBytes {
      if let frame = try reader.next() {
        batch.frames.append(frame)
        bytes += frame.payload.readableBytes
        count += 1
      } else {
        // Each round must bring what the first reading found, or the rounds would not follow each other in time.
        guard count == track.frames else { throw .changed }
        batch.endsRound = true
        count = 0
        try reader.rewind()
      }
    }
    readers[kind] = (reader, count)
    return batch
  }
}
