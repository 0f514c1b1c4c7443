import ArgumentParser

@main
struct ChatbotService: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "chatbot-service")
}
