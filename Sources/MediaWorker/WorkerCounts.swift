internal import MediaMessages

/// The number of workers at a time.
///
/// A worker is replaceable while it decodes only what this process decodes as well. Such a worker is started where there is room, and
/// takes no place of another one: where all places are taken, another one is started all the same, and a replaceable one ends with the
/// next keyframe of its stream. So nothing is left undecoded for it.
struct WorkerCounts {
  private var needed = 0
  private var replaceable = 0

  var all: Int { needed + replaceable }

  /// Whether replaceable workers are to end.
  var isCrowded: Bool { replaceable > 0 && all > MediaLimits.workers }

  /// Counts a worker that is to be started.
  ///
  /// - Returns: false if there is no place.
  mutating func add(isReplaceable: Bool) -> Bool {
    guard isReplaceable else {
      guard needed < MediaLimits.workers else { return false }
      needed += 1
      return true
    }
    guard all < MediaLimits.workers else { return false }
    replaceable += 1
    return true
  }

  mutating func remove(isReplaceable: Bool) {
    if isReplaceable { replaceable -= 1 } else { needed -= 1 }
  }

  /// Makes a replaceable worker a needed one.
  ///
  /// - Returns: false if there is no place.
  mutating func keep() -> Bool {
    guard replaceable > 0, needed < MediaLimits.workers else { return false }
    (needed, replaceable) = (needed + 1, replaceable - 1)
    return true
  }
}
