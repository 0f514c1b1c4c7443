internal import MediaMessages

/// How long a worker may take for a request. A machine may be slow, but a worker that was stopped never answers.
struct RequestPatience {
  /// The maximum CPU time, in nanoseconds.
  let processorTime: Int64
  /// How often in a row a worker may have used no CPU time when it is looked at, each half second, and how often it is looked at.
  let maximumIdle: Int
  let maximumRounds: Int

  /// - Parameter hasTime: whether nobody waits for the response as it is needed now: a process of low priority beside others may get no
  ///   CPU time for long, and what it decodes must not depend on that.
  init(of kind: WorkerKind, hasTime: Bool = false) {
    switch kind {
    case .decoding where hasTime: (processorTime, maximumIdle, maximumRounds) = (2_000_000_000, 240, 1_200)
    case .decoding: (processorTime, maximumIdle, maximumRounds) = (2_000_000_000, 10, 60)
    // The last request has all frames encoded that the encoder has kept, of the largest size and in several threads.
    case .encoding: (processorTime, maximumIdle, maximumRounds) = (600_000_000_000, 60, 1_200)
    // A full disk is waited for, and the last request moves all of the file. Disks use no CPU time of the process.
    case .writing: (processorTime, maximumIdle, maximumRounds) = (3_600_000_000_000, 240, 14_400)
    }
  }
}
