import CoreMetrics
package import JobProtocol
import Media
package import PrometheusText
package import SQLStore
import Synchronization
import Webhooks

/// The metrics of the service, without labels of jobs, rooms or users.
package final class ServiceMetrics: Sendable {
  /// Also the backend of swift-metrics for the program, whose libraries may have metrics of their own.
  package let registry: MetricRegistry

  /// What the counters whose sums others have were set to.
  private let raised = Mutex<[String: Double]>([:])

  package init(registry: MetricRegistry = MetricRegistry(families)) {
    self.registry = registry
    // Values that are zero are shown from the start: an alert on an increase needs the value before it.
    for resource in CapacityResource.allCases { refusals(resource).increment(by: 0) }
    showUploads()
    counter("chatbot_database_errors_total").increment(by: 0)
    // Those whose sums the database has are shown when it has answered: from 0 to what it counted before would be a jump.
    for result in ["delivered", "gone"] + WebhookFailure.Kind.allCases.filter({ $0 != .cancelled }).map(\.rawValue) {
      tries(result).increment(by: 0)
    }
    for state in DeliveryState.allCases where state != .pending { webhooks(state).increment(by: 0) }
  }

  package static var families: [MetricFamily] { MetricFamily.media + ofService + uploadFamilies }
  private static let ofService: [MetricFamily] = [
    MetricFamily("chatbot_jobs", .gauge, "Jobs by state."),
    MetricFamily("chatbot_attempts_total", .counter, "Processes that were started for jobs."),
    MetricFamily("chatbot_job_ends_total", .counter, "Jobs that ended, by reason."),
    MetricFamily(
      "chatbot_capacity_used", .gauge, "What jobs use of a resource: thousandths of processors, bytes, ports."),
    MetricFamily("chatbot_capacity_limit", .gauge, "What jobs may use of a resource."),
    MetricFamily("chatbot_refusals_total", .counter, "Jobs that were refused, by the short resource."),
    MetricFamily("chatbot_free_disk_bytes", .gauge, "Free space of the disk of the data folder."),
    MetricFamily("chatbot_database_errors_total", .counter, "Statements and transactions that failed."),
    MetricFamily(
      "chatbot_database_latency_seconds", .histogram, "How long statements and transactions took, and waited."),
    MetricFamily("chatbot_database_up", .gauge, "Whether the database answered when it was asked for these figures."),
    MetricFamily("chatbot_nodes", .gauge, "Services with the same database, by state: ready, draining, gone."),
    MetricFamily(
      "chatbot_takeovers_total", .counter, "Jobs that a node took over because the lease of another had ended."),
    MetricFamily("chatbot_jobs_without_lease", .gauge, "Jobs that have begun and whose lease has ended."),
    MetricFamily("chatbot_lease_age_seconds", .gauge, "The age of the oldest lease of a job that has not ended."),
    MetricFamily(
      "chatbot_webhook_tries_total", .counter, "Tries to send a webhook, by what became of them."),
    MetricFamily(
      "chatbot_webhooks_ended_total", .counter, "Webhooks that were delivered, given up or unwanted, by result."),
    MetricFamily("chatbot_webhooks_pending", .gauge, "Webhooks that are to be sent."),
    MetricFamily("chatbot_webhooks_oldest_seconds", .gauge, "How long ago the event of the oldest of these was."),
    MetricFamily("chatbot_webhooks_dead", .gauge, "Webhooks that were given up and not replayed."),
    MetricFamily("chatbot_requests_total", .counter, "Requests of the API by class of status."),
    MetricFamily("chatbot_request_seconds", .histogram, "How long the service took to begin an answer."),
  ]

  /// The values of the label `state` of `chatbot_nodes`.
  package static let nodeStates = ["ready", "draining", "gone"]

  // MARK: What happened

  package func refused(_ resource: CapacityResource) { refusals(resource).increment(by: 1) }
  /// A statement or a transaction of the database has ended.
  package func note(_ operation: SQLOperation) {
    if operation.failed { counter("chatbot_database_errors_total").increment(by: 1) }
    timer("chatbot_database_latency_seconds", operation.duration)
  }
  package func eventLoopWasLate(_ delay: Duration) { timer("chatbot_event_loop_delay_seconds", delay) }

  func answered(status: Int, in time: Duration) {
    counter("chatbot_requests_total", ("status", "\(status / 100)xx")).increment(by: 1)
    timer("chatbot_request_seconds", time)
  }

  /// A webhook was tried.
  func tried(_ result: String) { tries(result).increment(by: 1) }
  /// Webhooks are not tried again.
  func ended(_ state: DeliveryState, count: Int = 1) { webhooks(state).increment(by: Double(count)) }

  // MARK: What is

  /// Asks for the current values and returns all as text.
  package func text(store: JobStore, control: any JobControl) async -> String {
    do {
      let counts = try await store.countsByState()
      for state in JobState.allCases {
        gauge("chatbot_jobs", Double(counts[state] ?? 0), ("state", state.rawValue))
      }
      // The database counts on where an earlier service ended.
      raise(counter("chatbot_attempts_total"), "attempts", to: Double(try await store.attemptCount()))
      let reasons = try await store.countsByReason()
      for reason in JobEndReason.allCases {
        raise(ends(reason), reason.rawValue, to: Double(reasons[reason.rawValue] ?? 0))
      }
      let figures = try await store.clusterFigures()
      for (state, count) in zip(Self.nodeStates, [figures.ready, figures.draining, figures.gone]) {
        gauge("chatbot_nodes", Double(count), ("state", state))
      }
      raise(counter("chatbot_takeovers_total"), "takeovers", to: Double(figures.takeovers))
      gauge("chatbot_jobs_without_lease", Double(figures.jobsWithoutLease))
      gauge("chatbot_lease_age_seconds", Double(figures.oldestLease ?? 0) / 1_000)
      gauge("chatbot_database_up", 1)
      let outbox = try await store.outbox()
      gauge("chatbot_webhooks_pending", Double(outbox.pending))
      gauge("chatbot_webhooks_oldest_seconds", Double(outbox.age) / 1_000)
      gauge("chatbot_webhooks_dead", Double(outbox.dead))
    } catch {
      // The error is counted where the statement failed.
      gauge("chatbot_database_up", 0)
    }
    note(await control.statuses(), await control.mediaCounts)
    let capacity = await control.capacity
    for (resource, figure) in capacity.figures {
      gauge("chatbot_capacity_used", Double(figure.used), ("resource", resource.rawValue))
      gauge("chatbot_capacity_limit", Double(figure.limit), ("resource", resource.rawValue))
    }
    if let disk = capacity.figures[.disk] { gauge("chatbot_free_disk_bytes", Double(disk.limit)) }
    return registry.text()
  }

  /// Takes what the processes say.
  ///
  /// - Parameter counts: the sums since the service began.
  package func note(_ statuses: [JobID: JobStatus], _ counts: MediaCounts) {
    gauge("chatbot_users", Double(statuses.values.reduce(0) { $0 + $1.userCount }))
    gauge("chatbot_stalled_users", Double(statuses.values.reduce(0) { $0 + $1.stalledUsers }))
    let counted: [(String, UInt64)] = [
      ("chatbot_packets_total", counts.packets), ("chatbot_packets_lost_total", counts.lost),
      ("chatbot_packets_recovered_total", counts.recovered), ("chatbot_frames_total", counts.frames),
      ("chatbot_decode_errors_total", counts.decodeErrors), ("chatbot_frames_unverified_total", counts.unverified),
    ]
    for (name, count) in counted { raise(counter(name), name, to: Double(count)) }
  }

  // MARK: Handlers

  private func raise(_ counter: any FloatingPointCounterHandler, _ name: String, to value: Double) {
    let added = raised.withLock { raised in
      let before = raised[name] ?? 0
      raised[name] = max(before, value)
      return value - before
    }
    counter.increment(by: added)
  }

  private func counter(_ name: String, _ label: (String, String)...) -> any FloatingPointCounterHandler {
    registry.makeFloatingPointCounter(label: name, dimensions: label)
  }

  private func gauge(_ name: String, _ value: Double, _ label: (String, String)...) {
    registry.makeMeter(label: name, dimensions: label).set(value)
  }

  private func timer(_ name: String, _ time: Duration) {
    registry.makeTimer(label: name, dimensions: []).recordNanoseconds(
      Int64(clamping: time.attoseconds / 1_000_000_000))
  }

  private func refusals(_ resource: CapacityResource) -> any FloatingPointCounterHandler {
    counter("chatbot_refusals_total", ("resource", resource.rawValue))
  }

  private func tries(_ result: String) -> any FloatingPointCounterHandler {
    counter("chatbot_webhook_tries_total", ("result", result))
  }

  private func webhooks(_ state: DeliveryState) -> any FloatingPointCounterHandler {
    counter("chatbot_webhooks_ended_total", ("result", state.rawValue))
  }

  private func ends(_ reason: JobEndReason) -> any FloatingPointCounterHandler {
    counter("chatbot_job_ends_total", ("reason", reason.rawValue))
  }
}
