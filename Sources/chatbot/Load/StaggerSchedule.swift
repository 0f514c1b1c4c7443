/// When each of many publishers gets a frame of the one source that they share: each a little later than the one before, so
/// that they are no more in sync with each other than cameras are.
///
/// In sync all their keyframes would fall on one moment, which no receiver ever meets. Publishers of one phase get a frame
/// together, which saves timers; the phases are spread over a second, the usual distance of a file's keyframes.
struct StaggerSchedule: Sendable, Hashable {
  /// How many phases there are; at least one.
  let phases: Int

  /// A prime, so that the phases do not fall together with the 20 ms of audio and the 33 ms of frames.
  static let maximumPhases = 47
  static let span: Duration = .seconds(1)

  /// - Parameter isLive: whether the source is an encoder that answers its viewers; then nobody is made to wait.
  init(publishers: Int, isLive: Bool) {
    phases = isLive ? 1 : min(max(1, publishers), Self.maximumPhases)
  }

  /// The phase that a publisher belongs to.
  func phase(of index: Int) -> Int { index % phases }

  /// How much later than the source a phase is.
  func delay(of phase: Int) -> Duration { Self.span / phases * phase }
}
