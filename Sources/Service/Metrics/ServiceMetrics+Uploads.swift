import CoreMetrics
import Media
import PrometheusText
package import S3

/// What is stored, and what waits for it.
extension ServiceMetrics {
  static let uploadFamilies: [MetricFamily] = [
    MetricFamily("chatbot_spool_bytes", .gauge, "Bytes of complete files that are not in the store."),
    MetricFamily("chatbot_spool_files", .gauge, "Complete files that are not in the store."),
    MetricFamily("chatbot_spool_oldest_seconds", .gauge, "For how long the oldest of them has waited."),
    MetricFamily("chatbot_uploads_total", .counter, "Tries to store a file, by result."),
    MetricFamily("chatbot_upload_bytes_total", .counter, "Bytes of files that were stored."),
    MetricFamily("chatbot_upload_seconds", .histogram, "How long a file took to be stored, with all tries."),
    MetricFamily(
      "chatbot_store_requests_total", .counter, "Requests to a store of S3, by status; none for no answer."),
    MetricFamily(
      "chatbot_store_refuses", .gauge, "Whether the store refuses to be used until somebody changes something."),
  ]

  /// Counters that are shown from the start.
  func showUploads() {
    for status in Storer.Upload.Status.allCases { uploads(status).increment(by: 0) }
    registry.makeFloatingPointCounter(label: "chatbot_upload_bytes_total", dimensions: []).increment(by: 0)
  }

  /// A try to store a file has ended.
  package func note(_ upload: Storer.Upload) {
    uploads(upload.status).increment(by: 1)
    guard upload.status == .stored else { return }
    registry.makeFloatingPointCounter(label: "chatbot_upload_bytes_total", dimensions: [])
      .increment(by: Double(upload.bytes))
    registry.makeTimer(label: "chatbot_upload_seconds", dimensions: []).recordNanoseconds(
      Int64(clamping: upload.duration.attoseconds / 1_000_000_000))
  }

  package func note(_ observation: S3Observation) {
    guard case .request(_, let status, _) = observation else { return }
    registry.makeFloatingPointCounter(
      label: "chatbot_store_requests_total", dimensions: [("status", status > 0 ? "\(status)" : "none")]
    ).increment(by: 1)
  }

  package func note(_ figures: UnstoredFiles.Figures, isRefused: Bool) {
    set("chatbot_spool_bytes", Double(figures.bytes))
    set("chatbot_spool_files", Double(figures.count))
    set("chatbot_spool_oldest_seconds", max(figures.oldest.seconds, 0))
    set("chatbot_store_refuses", isRefused ? 1 : 0)
  }

  private func set(_ name: String, _ value: Double) { registry.makeMeter(label: name, dimensions: []).set(value) }

  private func uploads(_ status: Storer.Upload.Status) -> any FloatingPointCounterHandler {
    registry.makeFloatingPointCounter(label: "chatbot_uploads_total", dimensions: [("result", status.rawValue)])
  }
}
