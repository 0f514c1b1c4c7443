internal import Media
import NIOCore

/// Reads a file's tracks on a dedicated thread, round after round.
actor ReadAhead {
  /// Frames read at once, and whether the track ended after them.
  struct Batch: Sendable {
    var frames: [FileFrame] = []
    var endsRound = false
  }

  private let file: MediaFile
  private let thread = ReadingThread(name: "file reader")
  private var readers: [MediaKind: (reader: TrackReader, count: Int)] = [:]

  /// A batch is complete with this many frames or bytes.
  private static let maximumBatch = 64
  private static let maximumBatchBytes = 1 << 20

  init(_ file: MediaFile) {
    self.file = file
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  /// Returns the next frames of a track; after its end, those from its start again.
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
        // Each round must contain the frames that the first pass counted, or the rounds would not join in time.
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

/// A dedicated thread for an actor that waits for the disk, so that a slow disk delays nothing else.
///
/// The thread ends when its executor is released.
package final class ReadingThread: SerialExecutor {
  /// The state shared by the thread and the executor. The thread does not hold the executor itself, which then would
  /// never be released.
  private struct Shared {
    var jobs: [(job: UnownedJob, executor: UnownedSerialExecutor)] = []
    var isOver = false
  }

  private let shared = Monitor(Shared())

  package init(name: String) {
    let shared = shared
    DedicatedThread.start(name) { Self.run(shared) }
  }

  deinit {
    shared.withLock { $0.isOver = true }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    shared.withLock { $0.jobs.append((job, executor)) }
  }

  private static func run(_ shared: Monitor<Shared>) {
    while true {
      let jobs: [(job: UnownedJob, executor: UnownedSerialExecutor)]? = shared.wait { shared in
        if shared.jobs.isEmpty, !shared.isOver { return nil }
        defer { shared.jobs = [] }
        return shared.jobs
      }
      guard let jobs, !jobs.isEmpty else { return }
      // A job keeps its actor alive, and the actor its executor, so the reference is valid while it is used.
      for (job, executor) in jobs { job.runSynchronously(on: executor) }
    }
  }
}
