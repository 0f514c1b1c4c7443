package import BotPeer
package import Call
internal import JobProcess
internal import JobProtocol
package import Media
internal import NIOPosix
internal import PrometheusText
package import Recorder
internal import Signalling
internal import Synchronization

/// The metrics of one call. It observes the call, and samples it each second.
package final class CallMetrics: RoomCallObserver {
  private struct State: Sendable {
    var counts = ReceivedCounts()
    var stalls = StallDetector()
    var streams = AnnouncedStreams()
  }

  private let metrics: ProgramMetrics
  private let isRecording: Bool
  private let state = Mutex(State())

  private static let interval = Duration.seconds(1)

  /// - Parameter isRecording: whether the metrics of recordings are shown.
  package init(isRecording: Bool) {
    self.isRecording = isRecording
    var names: Set = [
      "chatbot_users", "chatbot_stalled_users", "chatbot_packets_total", "chatbot_packets_lost_total",
      "chatbot_packets_recovered_total", "chatbot_frames_total", "chatbot_event_loop_delay_seconds",
    ]
    var (others, unknown): ([MetricFamily], [MetricFamily]) = ([], [])
    if isRecording {
      names.formUnion(["chatbot_decode_errors_total", "chatbot_frames_unverified_total"])
      others = [
        MetricFamily("chatbot_recorded_bytes_total", .counter, "Bytes written of recordings."),
        MetricFamily("chatbot_recording_stalled", .gauge, "1 while the disk accepts nothing, else 0."),
        MetricFamily("chatbot_recording_paused", .gauge, "1 while nobody who is there is recorded, else 0."),
      ]
      unknown = [MetricFamily("chatbot_free_disk_bytes", .gauge, "Free space of the disk of the recordings.")]
    }
    metrics = ProgramMetrics(names, and: others, unknown: unknown)
  }

  /// All values in the text format 0.0.4.
  package var text: String { metrics.registry.text() }

  /// Samples the call until the task is cancelled.
  package func run(_ call: RoomCall) async {
    while !Task.isCancelled {
      await sample(call)
      do { try await MediaThread.loop.sleep(for: Self.interval) } catch { return }
    }
  }

  private func sample(_ call: RoomCall) async {
    let peers = await call.peer.statistics()
    let recordings = call.recordingStatus()
    if let progress = call.recordingProgress() {
      metrics.raise("chatbot_recorded_bytes_total", to: Double(progress.bytes))
      metrics.set("chatbot_recording_stalled", progress.isStalled ? 1 : 0)
      metrics.set("chatbot_recording_paused", progress.isPaused ? 1 : 0)
      if let free = progress.freeBytes { metrics.set("chatbot_free_disk_bytes", Double(free)) }
    }
    let paused = Set(peers.map(\.participant).filter { call.isPaused($0) })
    let (total, stalled) = state.withLock { state in
      state.counts.update(peers)
      let samples = peers.map { peer in
        StallDetector.Sample(
          peer.participant, frames: MediaCounts(peer).frames, isConnected: peer.state == .connected,
          isPaused: paused.contains(peer.participant), hasStopped: state.streams.hasStopped(peer.participant))
      }
      _ = state.stalls.update(samples, now: .now)
      return (state.counts.total(recordings), state.stalls.stalled.count)
    }
    metrics.set("chatbot_users", Double(peers.count))
    metrics.set("chatbot_stalled_users", Double(stalled))
    metrics.raise(to: total, recording: isRecording)
    await metrics.sampleProcess(MediaThread.loop)
  }

  // MARK: What the call says

  package func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    guard case .described(let stream) = event else { return }
    state.withLock { $0.streams.note(stream, of: participant) }
  }

  package func received(_ event: PeerEvent, of participant: ParticipantID, at now: ContinuousClock.Instant) {
    if case .ended = event { state.withLock { $0.streams.forget(participant) } }
  }

  package func recorded(_ recording: RecordingSummary) {
    state.withLock { $0.counts.update(recording) }
  }
}
