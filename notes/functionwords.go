package notes

// isFunctionWord tells whether a token is what a question is put with, not what it is about. It is only asked when all
// words together find nothing, and only counts where other words are left.
func isFunctionWord(token string) bool {
	switch token {
	case "a", "an", "the", "this", "that", "these", "those", "it", "its", "there", "here",
		"i", "me", "my", "we", "us", "our", "you", "your", "he", "she", "they", "them", "their",
		"am", "is", "are", "was", "were", "be", "been", "do", "does", "did", "have", "has", "had",
		"can", "could", "will", "would", "should", "may", "might", "must", "shall",
		"what", "which", "who", "whom", "whose", "when", "where", "why", "how",
		"and", "or", "not", "but", "if", "so", "as", "than", "then", "of", "to", "in", "on", "at", "by", "for", "from",
		"with", "about", "into", "over", "any", "some", "all", "no", "s", "t", "re", "ll", "ve", "m", "d",
		"please", "tell", "show", "find", "explain", "know", "want", "need", "use", "using", "say", "said",
		"note", "notes":
		return true
	case "请问", "怎么", "怎样", "如何", "什么", "么是", "为什", "哪里", "在哪", "哪个", "哪些", "多少", "关于", "我们", "我的",
		"你的", "他们", "这个", "那个", "是否", "可以", "一下", "有没", "没有", "一个", "么样", "么办", "的是", "是什",
		"する", "した", "です", "ます", "どう", "どこ", "なに", "何が", "いつ", "こと", "これ", "それ", "から", "って":
		return true
	}
	return false
}
