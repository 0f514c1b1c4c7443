internal import Call
internal import JobProcess
internal import Media
internal import PrometheusText
package import RoomServer

/// The metrics of a room server, which is sampled each second.
package final class RoomServerMetrics: Sendable {
  private let metrics: ProgramMetrics

  private static let interval = Duration.seconds(1)

  /// - Parameter hasGateway: whether the metrics of WHIP and WHEP are shown.
  package init(hasGateway: Bool) {
    var names: Set = ["chatbot_users", "chatbot_event_loop_delay_seconds"]
    var others = [
      MetricFamily("chatbot_rooms", .gauge, "Rooms with users."),
      MetricFamily("chatbot_connections", .gauge, "TCP connections to the page and of clients."),
    ]
    if hasGateway {
      names.formUnion([
        "chatbot_packets_total", "chatbot_packets_lost_total", "chatbot_packets_recovered_total",
        "chatbot_frames_total",
      ])
      others += [
        MetricFamily("chatbot_whip_publishers", .gauge, "Sessions of WHIP."),
        MetricFamily("chatbot_whep_players", .gauge, "Sessions of WHEP."),
      ]
    }
    metrics = ProgramMetrics(names, and: others)
  }

  /// All values in the text format 0.0.4.
  package var text: String { metrics.registry.text() }

  /// Samples a server that has been started until the task is cancelled.
  package func run(_ server: RoomServer) async {
    // Publishers that have left count too.
    var counts = ReceivedCounts()
    while !Task.isCancelled {
      let figures = await server.figures()
      metrics.set("chatbot_rooms", Double(figures.rooms))
      metrics.set("chatbot_users", Double(figures.users))
      metrics.set("chatbot_connections", Double(figures.connections))
      if let gateway = figures.gateway {
        metrics.set("chatbot_whip_publishers", Double(gateway.publishers))
        metrics.set("chatbot_whep_players", Double(gateway.players))
        counts.update(gateway.peers)
        metrics.raise(to: counts.total([]), recording: false)
      }
      await metrics.sampleProcess(MediaThread.loop)
      do { try await MediaThread.loop.sleep(for: Self.interval) } catch { return }
    }
  }
}
