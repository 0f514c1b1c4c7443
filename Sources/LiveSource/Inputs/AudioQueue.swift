import Codecs

/// Audio that has been made but not yet requested.
struct AudioQueue {
  let channels: Int
  private var samples: [Float] = []
  /// Samples that have been taken from the front already.
  private var taken = 0

  init(channels: Int) {
    self.channels = max(1, channels)
  }

  /// Ticks that wait.
  var count: Int { (samples.count - taken) / channels }

  mutating func append(samples new: some Sequence<Float>) {
    samples.append(contentsOf: new)
  }

  mutating func append(silence ticks: Int) {
    samples.append(contentsOf: repeatElement(0, count: ticks * channels))
  }

  /// Takes so many ticks from the front, or as many as there are.
  mutating func take(_ count: Int) -> AudioSamples {
    let wanted = min(samples.count - taken, max(0, count) * channels)
    let output = Array(samples[taken..<taken + wanted])
    taken += wanted
    // Moves the rest to the front now and then, so that taking costs the same on average however much waits.
    if taken * 2 >= samples.count {
      samples.removeFirst(taken)
      taken = 0
    }
    return AudioSamples(samples: output, channels: channels)
  }
}
