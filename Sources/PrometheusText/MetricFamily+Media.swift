extension MetricFamily {
  /// The metrics of media that all programs have, without labels of rooms or users.
  package static let media: [MetricFamily] = [
    MetricFamily("chatbot_users", .gauge, "Users in the rooms."),
    MetricFamily("chatbot_stalled_users", .gauge, "Users whose media stands still without a reason."),
    MetricFamily("chatbot_packets_total", .counter, "Media packets that were received."),
    MetricFamily("chatbot_packets_lost_total", .counter, "Media packets that never came."),
    MetricFamily(
      "chatbot_packets_recovered_total", .counter, "Media packets that were sent again or rebuilt."),
    MetricFamily("chatbot_frames_total", .counter, "Complete frames that were received."),
    MetricFamily("chatbot_decode_errors_total", .counter, "Recorded frames that could not be decoded."),
    MetricFamily(
      "chatbot_frames_unverified_total", .counter, "Recorded frames that were not verified for lack of time."),
    MetricFamily(
      "chatbot_event_loop_delay_seconds", .histogram, "How late the event loop of the program ran a timer."),
  ]
}
