package import Composition
internal import Media
package import MediaWorker

/// The first pass over the sound of all users: who speaks when, how loud they are, and their peaks. It decodes sound alone, as far as it
/// is asked to, so that it can go ahead of the picture.
package final class SoundScanner {
  /// The samples that are decoded at a time: 1 s.
  private static let block = Int64(SoundClock.rate)

  private let sounds: [UserSound]
  private var meters: [LoudnessMeter]?
  private var peaks: [Float]
  private var detector: SpeechDetector
  /// The length of the composition in samples.
  private let length: Int64
  private var position: Int64 = 0

  /// - Parameters:
  ///   - measuresLoudness: whether speech is to be brought to ``LoudnessMeter/speechTarget`` (`--level`).
  ///   - worker: makes the worker of a user whose codec is not decoded in this process.
  package init(
    _ plan: CompositionPlan, measuresLoudness: Bool, worker: @escaping () -> MediaWorker = { MediaWorker() }
  ) {
    sounds = UserSound.all(of: plan, worker: worker)
    meters = measuresLoudness ? plan.users.map { _ in LoudnessMeter() } : nil
    peaks = plan.users.map { _ in 0 }
    detector = SpeechDetector(users: plan.users.count)
    length = max(0, SoundClock.sample(at: plan.duration))
  }

  /// Why nothing can be decoded; nil if that is not so.
  package var failure: ComposerFailure? { sounds.lazy.compactMap(\.failure).first }
  /// Whether all sound has been decoded.
  package var isAtEnd: Bool { position >= length }
  /// How far the sound has been decoded, in units of `MediaTimebase.rate`.
  package var time: Int64 { SoundClock.time(ofSample: min(position, length)) }

  /// Decodes another second of all users.
  package func advance() {
    guard !isAtEnd else { return }
    let range = position..<min(length, position + Self.block)
    let windows = (range.count + SpeechDetector.window - 1) / SpeechDetector.window
    var levels = [[Float]](repeating: [], count: windows)
    for window in levels.indices { levels[window] = [Float](repeating: 0, count: sounds.count) }
    for (user, sound) in sounds.enumerated() {
      sound.read(range) { samples, _ in
        meters?[user].add(samples)
        for window in 0..<windows {
          levels[window][user] = level(of: samples, in: window, peak: &peaks[user])
        }
      }
    }
    for level in levels { detector.add(level) }
    position = range.upperBound
  }

  /// Returns the mean square of a window's samples.
  private func level(of samples: UnsafeBufferPointer<Float>, in window: Int, peak: inout Float) -> Float {
    let length = SpeechDetector.window * SoundClock.channels
    let part = samples[window * length..<min(samples.count, (window + 1) * length)]
    var sum: Float = 0
    for sample in part {
      sum += sample * sample
      peak = max(peak, abs(sample))
    }
    return sum / Float(length)
  }

  /// What was found so far.
  package var found: SoundScan {
    let spans = detector.spans
    let speakers = Set(spans.map(\.user))
    let users = peaks.indices.map { user in
      let loudness = meters?[user].loudness
      // Who never speaks is not raised to the loudness of speech.
      return SoundScan.User(
        peak: peaks[user], loudness: loudness,
        gain: speakers.contains(user) ? LoudnessMeter.gain(for: loudness) : 1)
    }
    return SoundScan(
      users: users, spans: spans, omittedSpans: detector.omittedSpans, changes: detector.changes,
      settled: isAtEnd ? .max : detector.settled)
  }
}

extension SoundScanner {
  /// Decodes all sound.
  package func run() -> SoundScan {
    while !isAtEnd { advance() }
    return found
  }

  /// Decodes all sound.
  ///
  /// - Parameter progress: called with the time so far after each second; what it throws ends the scan.
  package func run(progress: (Int64) throws -> Void) rethrows -> SoundScan {
    while !isAtEnd {
      advance()
      try progress(time)
    }
    return found
  }
}
