internal import Composition
internal import MediaWorker

/// The sound of one user, all their streams together, block by block.
final class UserSound {
  private let sources: [SoundSource]
  private var samples: [Float] = []
  private var heard: [Range<Int>] = []

  /// - Parameter worker: makes a worker of the user, when there is something that is not decoded in this process.
  init(_ sounds: [PlannedSound], worker: @escaping () -> MediaWorker) {
    var own: MediaWorker?
    sources = sounds.map { sound in
      SoundSource(sound) {
        let made = own ?? worker()
        own = made
        return made
      }
    }
  }

  var undecodedPackets: Int { sources.reduce(0) { $0 + $1.undecodedPackets } }
  var failure: ComposerFailure? { sources.lazy.compactMap(\.failure).first }
  var problems: [String] { sources.flatMap(\.problems) }

  /// Calls `use` with the sound of a range, two channels interleaved, and the parts in which each stream has sound, unless none has.
  /// The ranges of the calls ascend.
  func read(_ range: Range<Int64>, _ use: (UnsafeBufferPointer<Float>, [Range<Int>]) -> Void) {
    let count = range.count * SoundClock.channels
    heard.removeAll(keepingCapacity: true)
    for source in sources {
      source.read(range) { run in
        if heard.isEmpty {
          // The memory is used again.
          if samples.count == count {
            samples.withUnsafeMutableBufferPointer { $0.update(repeating: 0) }
          } else {
            samples = [Float](repeating: 0, count: count)
          }
        }
        let start = Int(run.start - range.lowerBound)
        heard.append(start..<start + run.count)
        add(run, at: start * SoundClock.channels)
      }
    }
    if !heard.isEmpty { samples.withUnsafeBufferPointer { use($0, heard) } }
  }

  private func add(_ run: SoundRun, at start: Int) {
    run.samples.withUnsafeBufferPointer { added in
      samples.withUnsafeMutableBufferPointer { samples in
        for index in added.indices { samples[start + index] += added[index] }
      }
    }
  }
}

extension UserSound {
  /// Returns the sound of each user of a plan, in its order.
  ///
  /// - Parameter worker: makes a worker. Users share them, because only a part of all processes is for sound.
  static func all(of plan: CompositionPlan, worker: @escaping () -> MediaWorker) -> [UserSound] {
    var shared: [Int: MediaWorker] = [:]
    return plan.users.indices.map { user in
      UserSound(plan.sounds.filter { $0.user == user }) {
        let made = shared[user % maximumWorkers] ?? worker()
        shared[user % maximumWorkers] = made
        return made
      }
    }
  }

  private static var maximumWorkers: Int { 16 }
}
