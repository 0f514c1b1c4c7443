package import Composition
internal import Media
package import MediaWorker

/// The second pass over the sound: adds all users, sample by sample from the composition's zero, in bounded memory.
package final class SoundMixer {
  private let sounds: [UserSound]
  private let gains: [Float]
  private var mix = SoundMix()
  /// The length of the composition in samples of each channel.
  package let length: Int64
  /// How many samples have been added, silence after the end included.
  private var added: Int64 = 0
  /// How many have been returned.
  private var returned: Int64 = 0

  /// - Parameters:
  ///   - gains: a factor for each user, in the order of the plan; 1 for those that are missing.
  ///   - worker: makes the worker of a user whose codec is not decoded in this process.
  package init(_ plan: CompositionPlan, gains: [Float] = [], worker: @escaping () -> MediaWorker = { MediaWorker() }) {
    sounds = UserSound.all(of: plan, worker: worker)
    self.gains = plan.users.indices.map { $0 < gains.count ? gains[$0] : 1 }
    length = max(0, SoundClock.sample(at: plan.duration))
  }

  /// Why nothing can be decoded; nil if that is not so.
  package var failure: ComposerFailure? { sounds.lazy.compactMap(\.failure).first }
  /// How much has been returned, in units of `MediaTimebase.rate`.
  package var time: Int64 { SoundClock.time(ofSample: returned) }

  /// Returns the next samples, interleaved, two channels at 48 kHz; fewer only at the end, and none after it.
  ///
  /// - Parameter count: the number of samples in each channel.
  package func next(_ count: Int) -> [Float] {
    let wanted = min(Int64(max(0, count)), length - returned)
    guard wanted > 0 else { return [] }
    // What the limiter returns first is the silence before the first sample.
    if added == 0 { _ = block(Int64(SoundMix.latency)) }
    returned += wanted
    return block(wanted)
  }

  /// Adds as many samples and returns those that become known by them.
  private func block(_ count: Int64) -> [Float] {
    mix.begin(Int(count))
    let range = min(length, added)..<min(length, added + count)
    if !range.isEmpty {
      for (sound, gain) in zip(sounds, gains) {
        sound.read(range) { mix.add($0, heard: $1, gain: gain) }
      }
    }
    added += count
    return mix.end()
  }

  /// What mixing did so far.
  package var report: SoundMixReport {
    SoundMixReport(
      peak: mix.peak, greatestReduction: mix.greatestReduction, undecodedPackets: sounds.map(\.undecodedPackets),
      problems: sounds.flatMap(\.problems))
  }
}
